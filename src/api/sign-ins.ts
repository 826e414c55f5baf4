/**
 * Guesses at tokens are few: of one address, and of all together. Beyond that a token is not even looked at, unless it was accepted from
 * this address before; so nobody who is in is shut out by a neighbour. A client that sends the same wrong token again and again has
 * guessed once. All that is remembered has a size.
 */
import { createHash } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { FastifyBaseLogger } from 'fastify'
import type { Clock } from '../clock.ts'
import { DuelogError } from '../errors.ts'
import { ipv6Groups } from '../ip-groups.ts'
import {
  refusedSignInsInAllMax,
  refusedSignInsInAllPerSecond,
  refusedSignInsMax,
  refusedSignInsPerSecond,
  refusedTokensKeptMs,
  signInsKeptMax,
  signInsLoggedMs,
} from './limits.ts'
import { RateLimit, tooMany } from './rate-limit.ts'

export interface SignIn {
  /** Of the socket. */
  address: string
  token: string
  /** Routes among which a token is accepted or not. */
  realm: string
}

export class SignIns {
  readonly #clock: Clock
  readonly #logger: FastifyBaseLogger
  readonly #ofAddress: RateLimit
  readonly #ofAll: RateLimit
  /** By network and token, in the order of their last use. */
  readonly #accepted = new Map<string, true>()
  /** Until when a token is known to be wrong, by the steady clock. */
  readonly #refused = new Map<string, number>()
  /** Looks at tokens that are under way, by network; each resolves at its end, with what it failed with. */
  readonly #underWay = new Map<string, Set<Promise<unknown>>>()
  readonly #underWayInAll = new Set<Promise<unknown>>()
  /** Refused unseen since the last line of the log. */
  #unlogged = 0
  #cancel: (() => void) | undefined

  constructor(clock: Clock, logger: FastifyBaseLogger) {
    this.#clock = clock
    this.#logger = logger
    this.#ofAddress = new RateLimit(clock, refusedSignInsPerSecond, refusedSignInsMax)
    this.#ofAll = new RateLimit(clock, refusedSignInsInAllPerSecond, refusedSignInsInAllMax)
  }

  /** What `judge` says of the token; undefined where it is wrong. Rejects with `too-many-requests`, and as `judge` does. */
  async judged<Found>({ address, token, realm }: SignIn, judge: () => Promise<Found | undefined>): Promise<Found | undefined> {
    const network = networkOf(address)
    const digest = `${realm} ${createHash('sha256').update(token).digest('base64')}`
    const known = `${network} ${digest}`
    if (this.#accepted.has(known)) {
      // It stays known meanwhile: who is in sends several requests at once.
      const found = await judge()
      if (found !== undefined) keep(this.#accepted, known, true)
      else this.#accepted.delete(known)
      return found
    }
    if ((this.#refused.get(digest) ?? 0) > this.#clock.steadyMs()) return undefined
    const found = await this.#inTurn(network, address, judge)
    if (found !== undefined) keep(this.#accepted, known, true)
    else keep(this.#refused, digest, this.#clock.steadyMs() + refusedTokensKeptMs)
    return found
  }

  /** Each that is under way may turn out to be wrong: so many guesses that come at one moment are no more than those that come one by one. */
  async #inTurn<Found>(
    network: string,
    address: string,
    judge: () => Promise<Found | undefined>,
  ): Promise<Found | undefined> {
    let here: Set<Promise<unknown>>
    for (;;) {
      here = this.#underWay.get(network) ?? new Set()
      const [left, leftInAll] = [this.#ofAddress.left(network), this.#ofAll.left('')]
      if (left < 1 || leftInAll < 1) {
        this.#note(address)
        throw tooMany('Too many different tokens were refused, so that new ones are not looked at for now.')
      }
      const before = here.size + 1 > left ? here : this.#underWayInAll.size + 1 > leftInAll ? this.#underWayInAll : undefined
      if (before === undefined) break
      const failure = await Promise.race(before)
      // Nobody can be let in, and each would wait for that anew.
      if (failure instanceof DuelogError && failure.code === 'identity-unavailable') throw failure
    }
    const { promise: over, resolve: end } = Promise.withResolvers<unknown>()
    let failure: unknown
    this.#underWay.set(network, here.add(over))
    this.#underWayInAll.add(over)
    try {
      const found = await judge()
      if (found === undefined) {
        this.#ofAddress.take(network)
        this.#ofAll.take('')
      }
      return found
    } catch (thrown) {
      failure = thrown
      throw thrown
    } finally {
      here.delete(over)
      if (here.size === 0) this.#underWay.delete(network)
      this.#underWayInAll.delete(over)
      end(failure)
    }
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  /** The first is told at once, the others as a count. */
  #note(address: string): void {
    if (this.#cancel !== undefined) {
      this.#unlogged++
      return
    }
    this.#logger.warn(
      { address },
      'Too many different tokens were refused; new ones are not looked at for now, and those are counted.',
    )
    this.#countOn()
  }

  #countOn(): void {
    this.#cancel = this.#clock.at(this.#clock.nowMs() + signInsLoggedMs, () => {
      this.#cancel = undefined
      if (this.#unlogged === 0) return
      this.#logger.warn({ refused: this.#unlogged, inMs: signInsLoggedMs }, 'Tokens were refused without a look at them.')
      this.#unlogged = 0
      this.#countOn()
    })
  }
}

function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= signInsKeptMax) return
  for (const oldest of map.keys()) {
    map.delete(oldest)
    return
  }
}

/** Whoever has one IPv6 address has the 2^64 around it. */
function networkOf(address: string): string {
  const bare = address.split('%', 1)[0]?.replace(/^::ffff:(?=\d+\.)/, '') ?? ''
  if (!isIPv6(bare)) return bare
  return ipv6Groups(bare)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')
}
