/**
 * Lets callers wait for a heartbeat that was sent after they asked: the proof that the group still counts us as a member
 * (ADR 0003). An earlier heartbeat whose answer arrives later proves nothing. And lets them join the group anew, for which kafkajs has no call:
 * it does so when a heartbeat is refused because the group is rebalancing, and so it is where it is asked whether one is due.
 */
import type { Consumer } from 'kafkajs'
import { DuelogError } from '../../errors/index.ts'

interface Waiter {
  sinceMs: number
  resolve(): void
  reject(error: Error): void
}

interface Rejoin {
  /** The join that is under way tells what is to be told. */
  isTold: boolean
  resolve(): void
  reject(error: Error): void
}

export class Heartbeats {
  readonly #intervalMs: number
  readonly #sessionMs: number
  #waiters: Waiter[] = []
  #rejoins: Rejoin[] = []
  /** By the steady clock: when the last heartbeat that was answered was sent, and when it was answered. */
  #sentAtMs = Number.NEGATIVE_INFINITY
  #answeredAtMs = Number.NEGATIVE_INFINITY
  /** And when the last request was sent of which we know that the group counted us then: a heartbeat, or the end of a join. */
  #countedAtMs = Number.NEGATIVE_INFINITY
  #syncSentAtMs = Number.NEGATIVE_INFINITY
  /** The group's generation at the last heartbeat; 0 before the first. */
  generation = 0
  /** Sends a heartbeat from within a batch that is being processed. */
  beat: (() => void) | undefined

  constructor(intervalMs: number, sessionMs: number) {
    this.#intervalMs = intervalMs
    this.#sessionMs = sessionMs
  }

  /** The brokers count a session from a heartbeat's arrival, which is no earlier than it was sent. */
  get isMember(): boolean {
    return performance.now() - this.#countedAtMs < this.#sessionMs
  }

  /**
   * The interval as kafkajs reads it each time it considers a heartbeat: none while somebody waits, so that a waiter is not
   * held up for the rest of the interval. kafkajs only compares and adds it, for which an object with valueOf is as good as a number.
   * It adds it to a time of the wall clock: where that was set back, nothing would be sent until it has caught up, so what is due by the
   * steady clock is due at any time.
   */
  get interval(): number {
    const isDue = (): boolean => this.#waiters.length > 0 || performance.now() - this.#answeredAtMs >= this.#intervalMs
    const asNumber = (): number => {
      if (this.#rejoins.length > 0) throw Object.assign(new Error('This member joins anew.'), { type: 'REBALANCE_IN_PROGRESS' })
      return isDue() ? Number.NEGATIVE_INFINITY : this.#intervalMs
    }
    return { valueOf: asNumber } as unknown as number
  }

  listen(consumer: Consumer): void {
    consumer.on(consumer.events.REQUEST, ({ payload }) => {
      if (payload.apiName === 'Heartbeat') this.#sentAtMs = sentAtMs(payload.duration)
      if (payload.apiName === 'SyncGroup') this.#syncSentAtMs = sentAtMs(payload.duration)
    })
    consumer.on(consumer.events.GROUP_JOIN, () => {
      this.#countedAtMs = Math.max(this.#countedAtMs, this.#syncSentAtMs)
    })
    // Emitted only on success, right after the request's own event.
    consumer.on(consumer.events.HEARTBEAT, ({ payload }) => {
      this.generation = payload.groupGenerationId
      this.#answeredAtMs = performance.now()
      this.#countedAtMs = Math.max(this.#countedAtMs, this.#sentAtMs)
      const waiting: Waiter[] = []
      for (const waiter of this.#waiters) {
        if (waiter.sinceMs < this.#sentAtMs) waiter.resolve()
        else waiting.push(waiter)
      }
      this.#waiters = waiting
    })
  }

  next(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ sinceMs: performance.now(), resolve, reject })
      this.beat?.()
    })
  }

  /** Resolves with the first join that begins after the call. */
  rejoin(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#rejoins.push({ isTold: false, resolve, reject })
      this.beat?.()
    })
  }

  /** Must be told whenever a join asks what there is to tell. */
  joining(): void {
    for (const rejoin of this.#rejoins) rejoin.isTold = true
  }

  /** And once what it gave is known. */
  joined(): void {
    const told = this.#rejoins.filter(({ isTold }) => isTold)
    this.#rejoins = this.#rejoins.filter(({ isTold }) => !isTold)
    for (const { resolve } of told) resolve()
  }

  /** Nobody will send a heartbeat any more. */
  end(reason: string): void {
    const waiting = [...this.#waiters, ...this.#rejoins]
    this.#waiters = []
    this.#rejoins = []
    for (const { reject } of waiting) reject(new DuelogError('not-ready', reason))
  }
}

/** An answer takes no longer than this, by any setting of ours; what says so was measured while the wall clock stepped. */
const durationMsMax = 120_000

/** By the steady clock, from how long the answer took by the wall clock, in whole ms; in the far past where that says nothing. */
const sentAtMs = (durationMs: number): number =>
  durationMs >= 0 && durationMs <= durationMsMax ? performance.now() - durationMs - 1 : Number.NEGATIVE_INFINITY
