/**
 * Limits the requests of each caller by a token bucket that refills at the rate and holds two seconds' worth. A caller is a
 * token or subject, or an address without either. Refused sign-ins have their own buckets (sign-ins.ts).
 */
import type { Clock } from '../../clock/index.ts'
import { BoundedMap } from '../../concurrency/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { rateCallersMax } from '../schemas/index.ts'

interface Bucket {
  left: number
  atMs: number
}

export class RateLimit {
  readonly #clock: Clock
  readonly #perSecond: number
  readonly #burst: number
  /** In the order of their last use. A full bucket need not be kept, so the oldest may always be dropped. */
  readonly #buckets = new BoundedMap<string, Bucket>(rateCallersMax)

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock
    this.#perSecond = perSecond
    this.#burst = burst
  }

  /** Takes one token. False if none is left. */
  take(caller: string): boolean {
    const bucket = this.#filled(caller)
    this.#buckets.renew(caller, bucket)
    if (bucket.left < 1) return false
    bucket.left--
    return true
  }

  /** Tokens left, fractions included. */
  left(caller: string): number {
    return this.#filled(caller).left
  }

  #filled(caller: string): Bucket {
    const nowMs = this.#clock.nowMs()
    const bucket = this.#buckets.get(caller)
    if (bucket === undefined) return { left: this.#burst, atMs: nowMs }
    // A clock that was set back neither fills nor empties a bucket.
    const passedMs = Math.max(0, nowMs - bucket.atMs)
    bucket.left = Math.min(this.#burst, bucket.left + (passedMs * this.#perSecond) / 1_000)
    bucket.atMs = nowMs
    return bucket
  }
}

export function tooMany(what: string): DuelogError {
  return new DuelogError(
    'too-many-requests',
    `${what} Send the request again later, or ask the operator of Duelog for a higher limit.`,
  )
}
