/**
 * The wall clock of this process with a guard. At each reading for a decision it is compared with the steady clock and with the times of
 * brokers (clock-trust.ts). A process has one guard, because it has one clock.
 */
import type { Logger } from '../logging/index.ts'
import type { Metrics } from '../metrics/index.ts'
import type { Clock, ClockGuard } from './clock.ts'
import { type Append, ClockTrust, type Distrust } from './clock-trust.ts'

/** Time between two checks while nobody reads the clock. */
const checkEveryMsDefault = 1_000
/** Time between two queries to the brokers while the clock is not trusted (minimum and maximum), and while it is and nothing was appended. */
const askMsMin = 500
const askMsMax = 5_000
const askAgainMs = 60_000
/** A query without an answer after this time no longer delays the next one. */
const answerMsMax = 20_000

export interface GuardedClockOptions {
  clock: Clock
  /** DUELOG_CLOCK_STEP_MS_MAX. 0: the clock is always trusted. */
  stepMsMax: number
  /** Whether brokers must have agreed before the clock is trusted. */
  needsProof: boolean
  metrics: Pick<Metrics, 'clockTrusted' | 'clockOffset' | 'clockSteps'>
  logger: Pick<Logger, 'warn' | 'error' | 'info' | 'debug'>
  /** Time between two checks while nobody reads the clock, in ms. Default 1,000. */
  lookMs?: number
}

export class GuardedClock implements Clock, ClockGuard {
  readonly #options: GuardedClockOptions
  readonly #clock: Clock
  readonly #trust: ClockTrust
  readonly #listeners = new Set<() => void>()
  readonly #stopListeners = new Set<() => void>()
  #verdict: Distrust | 'trusted' = 'trusted'
  #alarmed = false
  #disagreeing = ''
  #checkTimer: (() => void) | undefined
  /** By the steady clock: time of the last query, wait until the next one, and time of the last append. */
  #askedAtMs = Number.NEGATIVE_INFINITY
  #askWaitMs = askMsMin
  #answeredAtMs = Number.NEGATIVE_INFINITY
  #asking = false
  /** Start of the last query that has ended. */
  #endedMs = Number.NEGATIVE_INFINITY
  #answers = 0
  #ask: (() => Promise<unknown>) | undefined

  constructor(options: GuardedClockOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#trust = new ClockTrust(options)
    this.#verdict = this.#trust.distrust ?? 'trusted'
    options.metrics.clockTrusted.set(this.#verdict === 'trusted' ? 1 : 0)
  }

  get guard(): ClockGuard {
    return this
  }

  nowMs(): number {
    return this.#clock.nowMs()
  }

  steadyMs(): number {
    return this.#clock.steadyMs()
  }

  at(atMs: number, task: () => void): () => void {
    return this.#clock.at(atMs, task)
  }

  trustedMs(): number | undefined {
    const nowMs = this.#clock.nowMs()
    return this.#check(nowMs) ? nowMs : undefined
  }

  get problem(): string | undefined {
    return this.#check(this.#clock.nowMs()) ? undefined : this.#sentence()
  }

  onTrusted(task: () => void): () => void {
    this.#listeners.add(task)
    return () => this.#listeners.delete(task)
  }

  onStopped(task: () => void): () => void {
    this.#stopListeners.add(task)
    return () => this.#stopListeners.delete(task)
  }

  /** Number of appends that were reported. */
  get answers(): number {
    return this.#answers
  }

  /** A broker has appended a record, with its time. */
  readonly appended = (append: Append): void => {
    this.#answers++
    this.#answeredAtMs = append.receivedMs
    this.#trust.appended(append)
    if (this.#verdict !== 'trusted') this.#check(this.#clock.nowMs())
  }

  /** Starts to check once a second, and to `ask` brokers for their time if no other append gives it. Ends with `stop`. */
  start(ask: () => Promise<unknown>): void {
    this.#ask = ask
    this.#watch()
  }

  stop(): void {
    this.#checkTimer?.()
    this.#checkTimer = undefined
    this.#ask = undefined
  }

  readonly #watch = (): void => {
    this.#check(this.#clock.nowMs())
    this.#askIfDue()
    this.#checkTimer = this.#clock.at(
      this.#clock.nowMs() + (this.#verdict === 'trusted' ? (this.#options.lookMs ?? checkEveryMsDefault) : askMsMin),
      this.#watch,
    )
  }

  #askIfDue(): void {
    const steadyMs = this.#clock.steadyMs()
    const waitsForMs = this.#verdict === 'trusted' ? askAgainMs : this.#askWaitMs
    // If brokers disagree, those that this process writes to may be the wrong ones.
    const isEnough = this.#verdict === 'trusted' && this.#trust.disagreeing.length === 0
    const answeredAtMs = isEnough ? this.#answeredAtMs : Number.NEGATIVE_INFINITY
    if (this.#ask === undefined || this.#options.stepMsMax === 0) return
    if (this.#asking && steadyMs - this.#askedAtMs < answerMsMax) return
    if (steadyMs - Math.max(this.#askedAtMs, answeredAtMs) < waitsForMs) return
    if (this.#asking) this.#endedMs = this.#askedAtMs
    this.#askedAtMs = steadyMs
    this.#askWaitMs = Math.min(this.#askWaitMs * 2, askMsMax)
    this.#asking = true
    this.#ask().then(
      () => this.#answered(steadyMs),
      (error: unknown) => {
        this.#options.logger.debug({ event: 'broker-time-unknown', err: error }, 'Brokers could not be asked for the time.')
        this.#answered(steadyMs)
      },
    )
  }

  #answered(askedAtMs: number): void {
    this.#asking = false
    this.#endedMs = Math.max(this.#endedMs, askedAtMs)
    this.#check(this.#clock.nowMs())
  }

  #check(nowMs: number): boolean {
    const mayTrust = this.#ask === undefined || this.#endedMs >= this.#trust.sinceMs
    const isTrusted = this.#trust.check(nowMs, this.#clock.steadyMs(), mayTrust)
    const { offsetMs, distrust } = this.#trust
    const { metrics } = this.#options
    if (offsetMs !== undefined) metrics.clockOffset.set(offsetMs / 1_000)
    const now = distrust ?? 'trusted'
    if (now !== this.#verdict) this.#changed(now)
    if (isTrusted) this.#warnOfBrokers()
    return isTrusted
  }

  #changed(now: Distrust | 'trusted'): void {
    const { metrics, logger } = this.#options
    const before = this.#verdict
    this.#verdict = now
    metrics.clockTrusted.set(now === 'trusted' ? 1 : 0)
    if (now === 'trusted') {
      if (this.#alarmed)
        logger.warn(
          { event: 'clock-trusted', offsetMs: this.#trust.offsetMs },
          'The wall clock agrees again; decisions continue.',
        )
      this.#alarmed = false
      for (const listener of [...this.#listeners]) listener()
      return
    }
    if (before === 'trusted') {
      this.#askWaitMs = askMsMin
      this.#askedAtMs = Number.NEGATIVE_INFINITY
      if (now === 'step') metrics.clockSteps.inc()
      // Later, and not during the reading that has found it.
      this.#clock.at(this.#clock.nowMs(), () => {
        this.#askIfDue()
        for (const listener of [...this.#stopListeners]) listener()
      })
    }
    this.#alarmed = true
    logger.error(
      { event: 'clock-not-trusted', offsetMs: this.#trust.offsetMs, reason: now, disagreeing: this.#trust.disagreeing },
      this.#sentence(),
    )
  }

  #warnOfBrokers(): void {
    const names = this.#trust.disagreeing.join(', ')
    if (names === this.#disagreeing) return
    this.#disagreeing = names
    if (names !== '')
      this.#options.logger.warn(
        { event: 'broker-clocks-differ', disagreeing: names },
        `The clocks of brokers differ from one another, and from that of this machine: ${names}. Check their time services.`,
      )
  }

  #sentence(): string {
    const { stepMsMax } = this.#options
    const { offsetMs, distrust } = this.#trust
    if (distrust === 'unproven')
      return 'Nothing is decided until a broker has said the time, so that the wall clock can be compared with it.'
    const by =
      offsetMs === undefined
        ? 'not at the time of the brokers'
        : `${Math.round(Math.abs(offsetMs))} ms ${offsetMs > 0 ? 'ahead of' : 'behind'} the brokers`
    const what =
      distrust === 'step'
        ? `The wall clock of this machine was set, or the machine slept; it is ${by}.`
        : `The wall clock of this machine is ${by}.`
    return `${what} Nothing is decided until they agree within ${stepMsMax} ms. Check the time services of this machine and of the brokers; DUELOG_CLOCK_STEP_MS_MAX=0 ends the comparison.`
  }
}
