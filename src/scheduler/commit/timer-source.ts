/**
 * Chooses the timers of the next commit cycle: first those due within the lead, then deferred timers that are ready, then
 * bursts that are dispatched ahead of their time.
 */
import { type Timer, timerKind } from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'
import { timerName } from '../input/index.ts'
import type { Shared } from '../options/index.ts'
import type { HeavyJobs } from '../state/index.ts'
import { BurstPlanner, type TimeIndex } from '../timers/index.ts'
import { batchRecordsMax, timerShare } from './commit-cycle.ts'
import { culpritWaitMs } from './failure-isolation.ts'

/** Maximum timers of heavy jobs that are held back; further ones go with the light ones. */
const heavyMax = 20_000
/**
 * Bytes of heavy jobs whose timers go with one cycle (at least one timer): light timers wait for its commit. Measured with a
 * burst of 2,000 jobs of 500 kB on two cores: neighbors were in the log at most 47 ms after they were due, and 249 ms with the
 * 4 MiB that a cycle may write. The burst took 34 s instead of 40 s.
 */
const heavyBytesMax = 1024 * 1024

/**
 * Share of a cycle for deferred timers while others are due. A burst that may not be dispatched early, for example of jobs with
 * limits, is deferred as a whole. Later timers would otherwise wait until all of it is decided.
 */
const putOffShare = 0.5
/** Maximum deferred timers; above it no burst is dispatched ahead of its time. */
const putOffMax = 40_000

/** Share of a commit cycle's duration in the mean of the last ones. */
const newestShare = 0.25
/** The mean halves in this time without a commit: slow commits of the past say little about the next one. */
const cycleHalfLifeMs = 15_000
/**
 * The lead has to cover this many commit cycles: a timer that one has just missed waits for its end and is committed at the end of
 * the next. The third is for cycles that take longer than the mean.
 */
const cyclesInLead = 3

/** A clock that steps back by less has no effect that matters. */
const setBackMsMin = 1_000

export class TimerSource {
  readonly #index: TimeIndex
  readonly #bursts: BurstPlanner
  readonly #shared: Shared
  readonly #heavyJobs: HeavyJobs
  /** Ordered by `untilMs`. At most the timers of one lead, and `putOffMax` timers of bursts. */
  #deferred: { timer: Timer; untilMs: number }[] = []
  /** Deferred timers that return when they are due or earlier: the index has them too and need not return them. */
  #returning = new Set<string>()

  /**
   * Timers of heavy jobs, ordered by `dueAt`. They come after the light ones, a few in each cycle; otherwise one burst of them
   * would delay all others.
   */
  #heavy: Timer[] = []
  #heavyNames = new Set<string>()
  /** When timers were last taken. */
  #takenAt = 0
  /** Mean duration of a commit cycle when the last one ended, and that time by the steady clock. */
  #cycleMs = 0
  #cycleEndedAt = 0
  /** Another partition holds the permit for heavy timers. */
  #heavyWaits = false

  constructor(index: TimeIndex, store: PartitionStore, shared: Shared, heavyJobs: HeavyJobs) {
    this.#index = index
    this.#bursts = new BurstPlanner(store, shared.leadMs, shared.leadMsMax)
    this.#shared = shared
    this.#heavyJobs = heavyJobs
  }

  /** Due time of the next timer without the lead; in the far past while only a scan can tell. */
  get dueAt(): number {
    const deferred = this.#deferred[0]?.untilMs ?? Number.POSITIVE_INFINITY
    return Math.min(this.#index.nextDue ?? 0, deferred, this.#heavy[0]?.dueAt ?? Number.POSITIVE_INFINITY)
  }

  async take(
    now: number,
    shareWithInputRecords: boolean,
    aheadFrom: number,
    { max: most, timerNext, heavyNext } = { max: batchRecordsMax, timerNext: true, heavyNext: false },
    mayTakeHeavy = (): boolean => true,
  ): Promise<Timer[]> {
    const { leadMs } = this.#shared
    if (this.#takenAt - now > setBackMsMin) this.#recheckDeferred(now)
    this.#takenAt = now
    const share = most === 1 ? Number(timerNext) : Math.floor(most * timerShare)
    const max = shareWithInputRecords ? share : most
    // Each cycle takes one heavy timer, whatever the number of light ones.
    const isHeavyDue = (): boolean => max > 0 && (this.#heavy[0]?.dueAt ?? Number.POSITIVE_INFINITY) <= now + leadMs
    let takesHeavy = isHeavyDue() ? mayTakeHeavy() : undefined
    const lightMax = !takesHeavy ? max : most === 1 && !heavyNext ? max : max - 1
    const putOff = this.#readyBy(now, Math.ceil(lightMax * putOffShare))
    const due = await this.#takeDue(now, lightMax - putOff)
    const found = [...this.#takeDeferred(now, lightMax - due.length), ...due]
    if (!this.#isFull) {
      const options = { isAwaited: shareWithInputRecords, extraLeadMs: this.#extraLeadMs }
      const ahead = await this.#bursts.take(now, lightMax - found.length, aheadFrom, options)
      found.push(...ahead.filter((timer) => !this.#isWaiting(timer)))
    }
    const isLight = ({ jobId }: Timer): boolean => this.#heavyJobs.of(jobId) === 0 || this.#heavy.length >= heavyMax
    const light = found.every(isLight) ? found : found.filter(isLight)
    if (light.length < found.length) for (const timer of found) if (!light.includes(timer)) this.#putHeavy(timer)
    // The first heavy timers may have been found just now.
    if (takesHeavy === undefined && isHeavyDue()) takesHeavy = mayTakeHeavy()
    this.#heavyWaits = takesHeavy === false
    return takesHeavy ? [...light, ...this.#takeHeavy(now + leadMs, max - light.length)] : light
  }

  async #takeDue(now: number, max: number): Promise<Timer[]> {
    const found: Timer[] = []
    for (let goesOn = true; goesOn && found.length < max; ) {
      goesOn = false
      for (const timer of await this.#index.take(now + this.#shared.leadMs, max - found.length)) {
        if (this.#isWaiting(timer)) goesOn = true
        else if (mayActOn(timer, now)) found.push(timer)
        else this.#put(timer, timer.dueAt)
      }
    }
    return found
  }

  /** Whether it is held back and returns when it is due or earlier. */
  #isWaiting(timer: Timer): boolean {
    if (this.#returning.size + this.#heavyNames.size === 0) return false
    const name = timerName(timer)
    return this.#returning.has(name) || this.#heavyNames.has(name)
  }

  get #isFull(): boolean {
    return this.#deferred.length >= putOffMax
  }

  /** A few heavy timers that are due by then; at least one. */
  #takeHeavy(notAfter: number, max: number): Timer[] {
    let count = 0
    for (let bytes = 0; count < max; count++) {
      const next = this.#heavy[count]
      if (next === undefined || next.dueAt > notAfter) break
      bytes += this.#heavyJobs.of(next.jobId)
      if (count > 0 && bytes > heavyBytesMax) break
    }
    const taken = this.#heavy.splice(0, count)
    for (const timer of taken) this.#heavyNames.delete(timerName(timer))
    return taken
  }

  #putHeavy(timer: Timer): void {
    let at = this.#heavy.length
    while (at > 0 && (this.#heavy[at - 1]?.dueAt ?? 0) > timer.dueAt) at--
    this.#heavy.splice(at, 0, timer)
    this.#heavyNames.add(timerName(timer))
  }

  /** Call it at the end of each commit cycle that wrote to the log, with the time since its timers were taken, and how many they were. */
  committedAfter(cycleMs: number, timers: number): void {
    this.#bursts.dispatched(timers, cycleMs + this.#shared.lingerMs)
    const mean = this.#meanCycleMs
    this.#cycleMs = mean + (cycleMs - mean) * newestShare
    this.#cycleEndedAt = this.#shared.clock.steadyMs()
  }

  get #meanCycleMs(): number {
    return this.#cycleMs * 0.5 ** ((this.#shared.clock.steadyMs() - this.#cycleEndedAt) / cycleHalfLifeMs)
  }

  /**
   * How much longer than usual the lead has to be, so that runs are in the log half of the usual lead before they are due. 0 if
   * the usual lead does (ADR 0079).
   */
  get #extraLeadMs(): number {
    return Math.max(0, Math.ceil(cyclesInLead * this.#meanCycleMs - this.#shared.leadMs / 2))
  }

  /** Call it for each timer that is written. */
  scheduled(timer: Timer): void {
    this.#index.scheduled(timer)
    this.#bursts.scheduled(timer)
  }

  defer(entries: readonly { timer: Timer; untilMs: number }[]): void {
    for (const { timer, untilMs } of entries) this.#put(timer, untilMs)
  }

  /** Latest time of the next check. */
  wakeAt(now: number): number {
    const next = this.#index.nextDue
    if (next === undefined) return now
    const deferred = this.#deferred[0]?.untilMs ?? Number.POSITIVE_INFINITY
    const heavy = this.#heavyWaits
      ? Number.POSITIVE_INFINITY
      : (this.#heavy[0]?.dueAt ?? Number.POSITIVE_INFINITY) - this.#shared.leadMs
    const burst = this.#isFull ? Number.POSITIVE_INFINITY : this.#bursts.wakeAt(now, next, this.#extraLeadMs)
    return Math.min(next - this.#shared.leadMs, deferred, heavy, burst)
  }

  /** Number of deferred timers that are ready now, at most `max`. */
  #readyBy(now: number, max: number): number {
    let ready = 0
    while (ready < max && (this.#deferred[ready]?.untilMs ?? Number.POSITIVE_INFINITY) <= now) ready++
    return ready
  }

  #takeDeferred(now: number, max: number): Timer[] {
    const ready = this.#readyBy(now, max)
    if (ready === 0) return []
    const taken = this.#deferred.splice(0, ready).map(({ timer }) => timer)
    for (const timer of taken) this.#returning.delete(timerName(timer))
    return taken
  }

  /** After the clock was set back, timers that are due by now wait no longer than after a failure. */
  #recheckDeferred(now: number): void {
    const deferred = this.#deferred
    this.#deferred = []
    this.#returning.clear()
    for (const { timer, untilMs } of deferred)
      this.#put(timer, timer.dueAt > now ? untilMs : Math.min(untilMs, now + culpritWaitMs))
  }

  #put(timer: Timer, untilMs: number): void {
    let at = this.#deferred.length
    while (at > 0 && (this.#deferred[at - 1]?.untilMs ?? 0) > untilMs) at--
    this.#deferred.splice(at, 0, { timer, untilMs })
    if (untilMs <= timer.dueAt) this.#returning.add(timerName(timer))
  }
}

/** Only a dispatch may be early; a lease or deadline that is taken early would be lost. */
const mayActOn = ({ dueAt, kind }: Timer, now: number): boolean =>
  dueAt <= now || kind === timerKind.fire || kind === timerKind.retry || kind === timerKind.start
