/**
 * Limits guesses of tokens, for each address and in total. Above the limit a token is refused without a check, unless it was accepted
 * from this address before. So a signed-in client is not shut out by a neighbor. A client that repeats the same wrong token has
 * guessed once. All memory is bounded.
 */
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { Clock } from '../../clock/index.ts'
import { BoundedMap } from '../../concurrency/index.ts'
import type { Logger } from '../../logging/index.ts'
import { ipv6Groups } from '../../network/index.ts'
import {
  refusedSignInsInAllMax,
  refusedSignInsInAllPerSecond,
  refusedSignInsMax,
  refusedSignInsPerSecond,
  refusedTokensKeptMs,
  signInsKeptMax,
  signInsLoggedMs,
} from '../schemas/index.ts'
import { RateLimit, tooMany } from './rate-limit.ts'
import { NoneLeft, TokenChecks } from './token-checks.ts'

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
