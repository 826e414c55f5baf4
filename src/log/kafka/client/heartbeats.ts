/**
 * When a member sends heartbeats, and who waits for them. A caller waits for one that was sent after its call: the proof that the
 * group still counts us as a member (ADR 0003). An earlier heartbeat whose answer arrives later proves nothing. A caller may also
 * ask for a join.
 */

/**
 * After a join of a cooperative group, another join usually follows as soon as the losers have committed. Members that notice it
 * late would keep everybody waiting.
 */
const hurryMs = 3_000
const hurriedIntervalMs = 100

/**
 * A newcomer waits for the next heartbeat of each member. A lone member to which nothing happens has no other reason for many (ADR 0149).
 * ms, and the largest share of a session.
 */
const loneIntervalMs = 3_000
const loneShareMax = 0.3
/** How long the fetches of such a member wait for records, ms: the longest time after which a stop or a resume takes effect. */
export const loneWaitMs = 1_000

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

/** All times by the steady clock. */
export class Heartbeats {
  readonly #intervalMs: number
  readonly #sessionMs: number
  readonly #isLone: () => boolean
  #waiters: Waiter[] = []
  #rejoins: Rejoin[] = []
  /** When the last request was sent that proves our membership at that time: a heartbeat, or the end of a join. */
  #countedAtMs = Number.NEGATIVE_INFINITY
  #answeredAtMs = Number.NEGATIVE_INFINITY
  #hurriedUntilMs = Number.NEGATIVE_INFINITY
  readonly #wakers = new Set<() => void>()
  #isEnded = false

  /** `isLone`: nobody else is in the group, and nothing happens to the member. */
  constructor(intervalMs: number, sessionMs: number, isLone: () => boolean) {
    this.#intervalMs = intervalMs
    this.#sessionMs = sessionMs
    this.#isLone = isLone
  }

  /** Brokers count a session from the arrival of a heartbeat, which is not before it was sent. */
  get isMember(): boolean {
    return performance.now() - this.#countedAtMs < this.#sessionMs
  }

  get wantsRejoin(): boolean {
    return this.#rejoins.length > 0
  }

  /** For 3 s, heartbeats are at most 100 ms apart. */
  hurry(): void {
    this.#hurriedUntilMs = performance.now() + hurryMs
  }

  /** Resolves when a heartbeat has to be sent: an interval after the last one, and at once for a caller. */
  async due(): Promise<void> {
    if (this.#waiters.length === 0) await this.wait(this.#answeredAtMs + this.intervalMs - performance.now())
  }

  /** Resolves after an interval. */
  later(): Promise<void> {
    return this.wait(this.intervalMs)
  }

  /** Resolves after this time, or earlier: when a caller comes, and at the end. */
  wait(ms: number): Promise<void> {
    if (ms <= 0 || this.#isEnded) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#wakers.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      this.#wakers.add(wake)
    })
  }

  #wake(): void {
    for (const wake of [...this.#wakers]) wake()
  }

  /** Between two heartbeats, from now on, unless a caller comes. */
  get intervalMs(): number {
    const lone = Math.min(loneIntervalMs, loneShareMax * this.#sessionMs)
    const intervalMs = this.#isLone() ? Math.max(this.#intervalMs, lone) : this.#intervalMs
    return performance.now() < this.#hurriedUntilMs ? Math.min(intervalMs, hurriedIntervalMs) : intervalMs
  }

  /** The group has answered a heartbeat that was sent at this time. */
  answered(sentAtMs: number): void {
    this.counted(sentAtMs)
    const waiting: Waiter[] = []
    for (const waiter of this.#waiters) {
      if (waiter.sinceMs < sentAtMs) waiter.resolve()
      else waiting.push(waiter)
    }
    this.#waiters = waiting
  }

  /** The group has counted us at this time. */
  counted(sentAtMs: number): void {
    this.#answeredAtMs = performance.now()
    this.#countedAtMs = Math.max(this.#countedAtMs, sentAtMs)
  }

  next(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiters.push({ sinceMs: performance.now(), resolve, reject })
      this.#wake()
    })
  }

  /** Resolves with the first join that begins after the call. */
  rejoin(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#rejoins.push({ isAnnounced: false, resolve, reject })
      this.#wake()
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
  end(error: Error): void {
    this.#isEnded = true
    this.#wake()
    const waiting = [...this.#waiters, ...this.#rejoins]
    this.#waiters = []
    this.#rejoins = []
    for (const { reject } of waiting) reject(error)
  }
}
