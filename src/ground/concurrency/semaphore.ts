/** Slots: a semaphore, first come first served, and slots whose callers are served in turn. */
import type { Clock } from '../clock/index.ts'
import { DuelogError } from '../errors/index.ts'
import type { Asker } from '../ports/index.ts'

/** Commits: a broker serves two concurrent transactions faster than eight. Their latencies add up, the throughput does not (ADR 0003). */
export const commitSlots = 2
/**
 * Large restores at once: one applies records while the other waits for its store. More would share the same thread, and each
 * store that is filled at full speed takes about 30 MB more than later.
 */
export const restoreSlots = 2
/** Large restores of standbys have a slot of their own, so that no owner waits for one. */
export const standbyRestoreSlots = 1
/** Forecasts at once. They are for people who look, so partitions compute theirs one after another. */
export const forecastSlots = 1
/** Lists of jobs at once; each may read ten thousand jobs. */
export const listSlots = 2

export class Semaphore {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(slots: number) {
    this.#free = slots
  }

  /** Number of tasks that wait for a slot. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** Runs `task` when a slot is free. If `givenUp` rejects before that, it rejects with the same error. */
  async run<T>(task: () => Promise<T>, givenUp?: Promise<never>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await this.#waitForSlot(givenUp)
    try {
      return await task()
    } finally {
      this.#release()
    }
  }

  async #waitForSlot(givenUp: Promise<never> | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(resolve)
    try {
      await (givenUp === undefined ? promise : Promise.race([promise, givenUp]))
    } catch (error) {
      const place = this.#waiting.indexOf(resolve)
      if (place >= 0) this.#waiting.splice(place, 1)
      else this.#release()
      throw error
    }
  }

  #release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#free++
    else next()
  }
}

/** Requests that may wait. For one more, the newest request of the caller with the most requests is refused. */
export const slotWaitersMax = 2_000
/** How long a request may wait. For a single caller even a forecast of a hundred partitions takes less. */
export const slotWaitMs = 30_000

interface Waiting {
  begin(): void
  refuse(reason: unknown): void
}

export interface FairSlotsOptions {
  /** Name of the work in the plural, for messages. */
  what: string
  /** Number of slots. */
  places: number
  clock: Pick<Clock, 'nowMs' | 'at'>
  /** Default: slotWaitersMax. */
  waitingMax?: number
}

/**
 * Slots for work on request, such as lists of jobs. A process has few of them, and callers get them in turn, however much one caller
 * asks for. A request waits 30 s at most, and only as long as the caller wants the answer.
 */
export class FairSlots {
  readonly #options: FairSlotsOptions
  readonly #waitingMax: number
  #free: number
  #waiting = 0
  /** Requests of each caller, oldest first; callers in the order of their turns. */
  readonly #queues = new Map<string, Waiting[]>()

  constructor(options: FairSlotsOptions) {
    this.#options = options
    this.#waitingMax = options.waitingMax ?? slotWaitersMax
    this.#free = options.places
  }

  /** Number of waiting requests. */
  get waiting(): number {
    return this.#waiting
  }

  /** Rejects with `overloaded` if it has waited too long or too many wait, and with the signal's reason if it is aborted. */
  async run<T>(task: () => Promise<T>, { caller, signal }: Asker = { caller: '' }): Promise<T> {
    signal?.throwIfAborted()
    if (this.#free > 0) this.#free--
    else await this.#waitForSlot(caller, signal)
    try {
      return await task()
    } finally {
      this.#release()
    }
  }

  #waitForSlot(caller: string, signal: AbortSignal | undefined): Promise<void> {
    const { clock, what } = this.#options
    if (this.#waiting >= this.#waitingMax) this.#makeRoomFor(caller)
    return new Promise((resolve, reject) => {
      const end = (): void => {
        cancelTimer()
        signal?.removeEventListener('abort', aborted)
      }
      const waiting: Waiting = {
        begin() {
          end()
          resolve()
        },
        refuse: (reason) => {
          end()
          this.#remove(caller, waiting)
          reject(reason)
        },
      }
      const aborted = (): void => waiting.refuse(signal?.reason)
      const tooLong = `Other ${what} took all of ${slotWaitMs / 1_000} s that this one may wait; ask again later.`
      const cancelTimer = clock.at(clock.nowMs() + slotWaitMs, () => waiting.refuse(new DuelogError('overloaded', tooLong)))
      signal?.addEventListener('abort', aborted)
      const queue = this.#queues.get(caller)
      if (queue === undefined) this.#queues.set(caller, [waiting])
      else queue.push(waiting)
      this.#waiting++
    })
  }

  /** Throws if the caller itself has the most waiting requests. */
  #makeRoomFor(caller: string): void {
    const full = `Already ${this.#waitingMax} ${this.#options.what} wait; ask again later.`
    let most: Waiting[] = []
    for (const queue of this.#queues.values()) if (queue.length > most.length) most = queue
    if ((this.#queues.get(caller)?.length ?? 0) + 1 >= most.length) throw new DuelogError('overloaded', full)
    most.at(-1)?.refuse(new DuelogError('overloaded', full))
  }

  #remove(caller: string, waiting: Waiting): void {
    const queue = this.#queues.get(caller) ?? []
    const place = queue.indexOf(waiting)
    if (place < 0) return
    queue.splice(place, 1)
    this.#waiting--
    if (queue.length === 0) this.#queues.delete(caller)
  }

  #release(): void {
    for (const [caller, queue] of this.#queues) {
      const next = queue.shift()
      this.#queues.delete(caller)
      if (next === undefined) continue
      this.#waiting--
      if (queue.length > 0) this.#queues.set(caller, queue)
      return next.begin()
    }
    this.#free++
  }
}
