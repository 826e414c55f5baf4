/**
 * Lets callers wait for a heartbeat that was sent after their call: the proof that the group still counts us as a member (ADR
 * 0003). An earlier heartbeat whose answer arrives later proves nothing. Also lets callers rejoin the group, for which kafkajs
 * has no call. kafkajs rejoins when a heartbeat is refused because of a rebalance, so such an error is thrown where it asks
 * whether a heartbeat is due.
 */
import type { Consumer } from 'kafkajs'
import { DuelogError } from '../../errors/index.ts'

/**
 * After a join of a cooperative group, another join usually follows as soon as the losers have committed. Members that notice it
 * late would keep everybody waiting.
 */
const hurryMs = 3_000
const hurriedIntervalMs = 100

interface Waiter {
  sinceMs: number
  resolve(): void
  reject(error: Error): void
}

interface Rejoin {
  /** The current join carries the caller's user data. */
  isAnnounced: boolean
  resolve(): void
  reject(error: Error): void
}

export class Heartbeats {
  readonly #intervalMs: number
  readonly #sessionMs: number
  #waiters: Waiter[] = []
  #rejoins: Rejoin[] = []
  /** By the steady clock: when the last answered heartbeat was sent, and when its answer arrived. */
  #sentAtMs = Number.NEGATIVE_INFINITY
  #answeredAtMs = Number.NEGATIVE_INFINITY
  #hurriedUntilMs = Number.NEGATIVE_INFINITY
  /** When kafkajs last found a heartbeat due, and sent it. */
  #askedAtMs = Number.NEGATIVE_INFINITY
  /** When the last request was sent that proves our membership at that time: a heartbeat, or the end of a join. */
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

  /** Brokers count a session from the arrival of a heartbeat, which is not before it was sent. */
  get isMember(): boolean {
    return performance.now() - this.#countedAtMs < this.#sessionMs
  }

  /**
   * The interval as kafkajs reads it each time it considers a heartbeat. It is zero while a caller waits, so that a caller never
   * waits for the rest of the interval. kafkajs only compares and adds it, so an object with valueOf works like a number. kafkajs
   * adds it to a wall-clock time. If that clock is set back, nothing would be sent until it has caught up. So a heartbeat that is
   * due by the steady clock is due at any wall-clock time.
   */
  get interval(): number {
    const isDue = (): boolean => this.#waiters.length > 0 || performance.now() - this.#answeredAtMs >= this.#currentMs
    const asNumber = (): number => {
      if (this.#rejoins.length > 0) throw Object.assign(new Error('This member joins again.'), { type: 'REBALANCE_IN_PROGRESS' })
      if (!isDue()) return this.#currentMs
      this.#askedAtMs = performance.now()
      return Number.NEGATIVE_INFINITY
    }
    return { valueOf: asNumber } as unknown as number
  }

  /** For 3 s, heartbeats are at most 100 ms apart. */
  hurry(): void {
    this.#hurriedUntilMs = performance.now() + hurryMs
  }

  get #currentMs(): number {
    return performance.now() < this.#hurriedUntilMs ? Math.min(this.#intervalMs, hurriedIntervalMs) : this.#intervalMs
  }

  /** Time until the next heartbeat is due; 0 while a caller waits for one or for a join. */
  get dueInMs(): number {
    if (this.#waiters.length > 0 || this.#rejoins.length > 0) return 0
    return Math.max(0, Math.max(this.#answeredAtMs, this.#askedAtMs) + this.#currentMs - performance.now())
  }

  listen(consumer: Consumer): void {
    consumer.on(consumer.events.REQUEST, ({ payload }) => {
      if (payload.apiName === 'Heartbeat') this.#sentAtMs = sentAtMs(payload.duration)
      if (payload.apiName === 'SyncGroup') this.#syncSentAtMs = sentAtMs(payload.duration)
    })
    consumer.on(consumer.events.GROUP_JOIN, () => {
      this.#countedAtMs = Math.max(this.#countedAtMs, this.#syncSentAtMs)
    })
    // Emitted only on success, right after the event of the request.
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
      this.#rejoins.push({ isAnnounced: false, resolve, reject })
      this.beat?.()
    })
  }

  /** Must be called whenever a join asks for the user data. */
  joining(): void {
    for (const rejoin of this.#rejoins) rejoin.isAnnounced = true
  }

  /** Must be called when the result of that join is known. */
  joined(): void {
    const announced = this.#rejoins.filter(({ isAnnounced }) => isAnnounced)
    this.#rejoins = this.#rejoins.filter(({ isAnnounced }) => !isAnnounced)
    for (const { resolve } of announced) resolve()
  }

  /** No more heartbeats will be sent. */
  end(reason: string): void {
    const waiting = [...this.#waiters, ...this.#rejoins]
    this.#waiters = []
    this.#rejoins = []
    for (const { reject } of waiting) reject(new DuelogError('not-ready', reason))
  }
}

/** No answer takes longer than this with any of our settings. A longer duration was measured while the wall clock stepped. */
const durationMsMax = 120_000

/**
 * Send time by the steady clock, from the wall-clock duration of the answer in whole ms; in the far past if the duration is
 * unusable.
 */
const sentAtMs = (durationMs: number): number =>
  durationMs >= 0 && durationMs <= durationMsMax ? performance.now() - durationMs - 1 : Number.NEGATIVE_INFINITY
