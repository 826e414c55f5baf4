/** Waits: with a time limit, until a wake, until a group is joined again, for an answer that others share; and how long they took. */
import type { Clock } from '../clock/index.ts'

/** The value of `work`; undefined if it has not settled within `limitMs`. A rejection of `work` is ignored: undefined too. */
export function withTimeout<Value>(clock: Clock, limitMs: number, work: Promise<Value>): Promise<Value | undefined> {
  return new Promise((resolve) => {
    const cancelTimer = clock.at(clock.nowMs() + limitMs, () => resolve(undefined))
    work.then(
      (value) => {
        cancelTimer()
        resolve(value)
      },
      () => {
        cancelTimer()
        resolve(undefined)
      },
    )
  })
}

/** Signal that lets one loop sleep until it is woken or a time comes. A wake while the loop does not sleep is remembered. */
export class WakeSignal {
  readonly #clock: Clock
  #woken = false
  #resolve: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  wake(): void {
    this.#woken = true
    this.#resolve?.()
  }

  /** Resolves at the next wake or at `atMs`, and at once if a wake came since the last wait. */
  async wait(atMs: number): Promise<void> {
    if (!this.#woken) {
      await new Promise<void>((resolve) => {
        const cancelTimer = atMs === Number.POSITIVE_INFINITY ? () => {} : this.#clock.at(atMs, resolve)
        this.#resolve = () => {
          cancelTimer()
          resolve()
        }
      })
      this.#resolve = undefined
    }
    this.#woken = false
  }
}

/** When a group member that lost its session joins again: after a delay that doubles with each failure, up to a maximum. */
export class RejoinTimer {
  readonly #clock: Pick<Clock, 'at' | 'nowMs'>
  readonly #firstMs: number
  readonly #maxMs: number
  #delayMs: number
  #cancelJoin = (): void => undefined

  /** `maxMs`: default `firstMs`, so that the delay does not grow. */
  constructor(clock: Pick<Clock, 'at' | 'nowMs'>, firstMs: number, maxMs = firstMs) {
    this.#clock = clock
    this.#firstMs = this.#delayMs = firstMs
    this.#maxMs = maxMs
  }

  /** The delay before the next join, in ms. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Calls `join` once after the delay, and `failed` with its error. */
  start(join: () => Promise<void>, failed: (error: unknown) => void): void {
    this.#cancelJoin = this.#clock.at(this.#clock.nowMs() + this.#delayMs, () => void join().catch(failed))
    this.#delayMs = Math.min(this.#delayMs * 2, this.#maxMs)
  }

  /** The member has joined: the next delay is the first one again. */
  reset(): void {
    this.#delayMs = this.#firstMs
  }

  /** A planned join is dropped. */
  cancel(): void {
    this.#cancelJoin()
  }
}

/** Stopwatch for the steps of a longer task; the times are for people. */
export class Stopwatch {
  readonly #clock: Pick<Clock, 'steadyMs'>
  readonly #ms: Record<string, number> = {}
  #sinceMs = 0

  constructor(clock: Pick<Clock, 'steadyMs'>) {
    this.#clock = clock
  }

  begin(): void {
    this.#sinceMs = this.#clock.steadyMs()
  }

  /** Records the time since the last lap under this name. */
  lap(name: string): void {
    const nowMs = this.#clock.steadyMs()
    this.#ms[name] = Math.round(nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
  }

  /** ms by name. */
  get ms(): Readonly<Record<string, number>> {
    return this.#ms
  }
}

/**
 * A query to brokers and owners that all callers share. One query runs at a time. A caller that comes meanwhile gets the answer of the
 * next one, which begins after its call, so no caller gets an answer from before its call.
 */
export class SharedAnswer<Answer> {
  readonly #ask: () => Promise<Answer>
  #running: Promise<Answer> | undefined
  #next: Promise<Answer> | undefined

  constructor(ask: () => Promise<Answer>) {
    this.#ask = ask
  }

  /** Rejects if the query does. */
  get(): Promise<Answer> {
    if (this.#next !== undefined) return this.#next
    if (this.#running === undefined) return this.#begin()
    const begin = (): Promise<Answer> => this.#begin()
    this.#next = this.#running.then(begin, begin)
    return this.#next
  }

  #begin(): Promise<Answer> {
    this.#next = undefined
    const running = this.#ask().finally(() => {
      if (this.#running === running) this.#running = undefined
    })
    this.#running = running
    return running
  }
}
