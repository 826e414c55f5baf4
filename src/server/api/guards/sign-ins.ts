/** Checks of tokens: what one costs, and who has sent too many wrong ones. */
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Clock } from '../../../ground/clock/index.ts'
import { BoundedMap } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import { ipv6Groups } from '../../../ground/network/index.ts'
import {
  refusedSignInsInAllMax,
  refusedSignInsInAllPerSecond,
  refusedSignInsMax,
  refusedSignInsPerSecond,
  refusedTokensKeptMs,
  signInsKeptMax,
  signInsLoggedMs,
} from '../schemas/index.ts'
import { RateLimit, tooMany } from './request-guards.ts'

/**
 * Limits guesses of tokens, for each address and in total. Above the limit a token is refused without a check, unless it was accepted
 * from this address before. So a signed-in client is not shut out by a neighbor. A client that repeats the same wrong token has
 * guessed once. All memory is bounded.
 */

export interface SignIn {
  /** The address of the socket. */
  address: string
  token: string
  /** The routes for which the token is checked. */
  realm: string
}

/** A token of another form is not sent to a provider. */
const jwtForm = /^[^.]+\.[^.]+\.[^.]+$/

export class SignIns {
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #ofAddress: RateLimit
  readonly #ofAll: RateLimit
  /** By network and token, in the order of their last use. */
  readonly #accepted = new BoundedMap<string, true>(signInsKeptMax)
  /** Time until which a token is known to be wrong, by the steady clock. */
  readonly #refused = new BoundedMap<string, number>(signInsKeptMax)
  readonly #looks: TokenChecks
  /** Number of tokens refused without a check since the last log line. */
  #unlogged = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock
    this.#logger = logger
    this.#ofAddress = new RateLimit(clock, refusedSignInsPerSecond, refusedSignInsMax)
    this.#ofAll = new RateLimit(clock, refusedSignInsInAllPerSecond, refusedSignInsInAllMax)
    this.#looks = new TokenChecks({
      left: (network) => this.#ofAddress.left(network),
      leftInAll: () => this.#ofAll.left(''),
    })
  }

  /** The result of `judge`; undefined for a wrong token. Rejects with `too-many-requests`, and as `judge` does. */
  async judged<Found>({ address, token, realm }: SignIn, judge: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const network = networkOf(address)
    const digest = `${realm} ${createHash('sha256').update(token).digest('base64')}`
    const known = `${network} ${digest}`
    if (this.#accepted.has(known)) {
      // The token stays known in between: a signed-in client sends several requests at once.
      const found = await judge()
      if (found !== undefined) this.#accepted.renew(known, true)
      else this.#accepted.delete(known)
      return found
    }
    const isRefused = (): boolean => (this.#refused.get(digest) ?? 0) > this.#clock.steadyMs()
    if (isRefused()) return undefined
    const look = async (): Promise<Found | undefined> => {
      // The same token may have been checked while this one waited, or beside it.
      const found = isRefused() ? undefined : await judge()
      if (found !== undefined) this.#accepted.renew(known, true)
      else if (!isRefused()) {
        this.#ofAddress.take(network)
        this.#ofAll.take('')
        this.#refused.renew(digest, this.#clock.steadyMs() + refusedTokensKeptMs)
      }
      return found
    }
    return await this.#looks.run(network, jwtForm.test(token), look).catch((thrown: unknown) => {
      if (!(thrown instanceof NoneLeft)) throw thrown
      this.#note(address)
      throw tooMany('Too many different tokens were refused, so new tokens are refused without a check at the moment.')
    })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** Logs the first at once and the others as a count. */
  #note(address: string): void {
    if (this.#cancel !== undefined) {
      this.#unlogged++
      return
    }
    this.#logger.warn(
      { event: 'sign-ins-blocked', address },
      'Too many different tokens were refused. New tokens are refused without a check at the moment, and are counted.',
    )
    this.#countOn()
  }

  #countOn(): void {
    this.#cancel = this.#clock.at(this.#clock.nowMs() + signInsLoggedMs, () => {
      this.#cancel = undefined
      if (this.#unlogged === 0) return
      this.#logger.warn(
        { event: 'sign-ins-refused', refused: this.#unlogged, inMs: signInsLoggedMs },
        'Tokens were refused without a check.',
      )
      this.#unlogged = 0
      this.#countOn()
    })
  }
}

/** The holder of one IPv6 address controls the 2^64 addresses around it. */
function networkOf(address: string): string {
  const bare = address.split('%', 1)[0]?.replace(/^::ffff:(\d{1,3}\.)/, '$1') ?? ''
  if (!isIPv6(bare)) return bare
  return ipv6Groups(bare)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}

/**
 * Concurrent checks of tokens. Each may be of a wrong token, so the number of concurrent checks is limited by the wrong tokens
 * that are still allowed: concurrent guesses get no more tries than sequential ones. Further checks wait until one ends.
 */

export interface TokenChecksOptions {
  /** Wrong tokens that a network may still send, fractions included. */
  left(network: string): number
  leftInAll(): number
}

interface Waiting {
  isOfProvider: boolean
  begin(): void
  refuse(reason: unknown): void
}

/** A token is not checked because too many were wrong. */
export class NoneLeft extends Error {}

export class TokenChecks {
  readonly #options: TokenChecksOptions
  readonly #underWay = new Map<string, number>()
  #underWayInAll = 0
  /** Waiting checks of each network, oldest first. */
  readonly #waiting = new Map<string, Waiting[]>()

  constructor(options: TokenChecksOptions) {
    this.#options = options
  }

  /**
   * Runs `look` in its turn and resolves with its result. Rejects as `look` does, and with NoneLeft. `isOfProvider`: only the
   * identity provider can judge the token.
   */
  async run<Found>(network: string, isOfProvider: boolean, look: () => Promise<Found>): Promise<Found> {
    if (this.#waiting.has(network) || !this.#begins(network)) await this.#waitForSlot(network, isOfProvider)
    try {
      return await look()
    } catch (thrown) {
      if (thrown instanceof DuelogError && thrown.code === 'identity-unavailable') this.#giveUp(thrown)
      throw thrown
    } finally {
      this.#count(network, -1)
      this.#serve(network)
      for (const other of this.#waiting.keys()) if (this.#underWayInAll < this.#options.leftInAll()) this.#serve(other)
    }
  }

  /** False if it must wait. Throws NoneLeft. */
  #begins(network: string): boolean {
    const [left, leftInAll] = [this.#options.left(network), this.#options.leftInAll()]
    if (left < 1 || leftInAll < 1) throw new NoneLeft()
    if ((this.#underWay.get(network) ?? 0) + 1 > left || this.#underWayInAll + 1 > leftInAll) return false
    this.#count(network, 1)
    return true
  }

  #waitForSlot(network: string, isOfProvider: boolean): Promise<void> {
    return new Promise((begin, refuse) => {
      const waiting = { isOfProvider, begin, refuse }
      const queue = this.#waiting.get(network)
      if (queue === undefined) this.#waiting.set(network, [waiting])
      else queue.push(waiting)
    })
  }

  #serve(network: string): void {
    const queue = this.#waiting.get(network) ?? []
    for (let first = queue[0]; first !== undefined; first = queue[0]) {
      try {
        if (!this.#begins(network)) return
        first.begin()
      } catch (thrown) {
        first.refuse(thrown)
      }
      queue.shift()
    }
    this.#waiting.delete(network)
  }

  /** Each of these would wait equally long for the provider, one after another. */
  #giveUp(reason: unknown): void {
    for (const [network, queue] of this.#waiting) {
      for (const waiting of queue) if (waiting.isOfProvider) waiting.refuse(reason)
      const rest = queue.filter(({ isOfProvider }) => !isOfProvider)
      if (rest.length > 0) this.#waiting.set(network, rest)
      else this.#waiting.delete(network)
    }
  }

  #count(network: string, by: 1 | -1): void {
    this.#underWayInAll += by
    const count = (this.#underWay.get(network) ?? 0) + by
    if (count > 0) this.#underWay.set(network, count)
    else this.#underWay.delete(network)
  }
}
