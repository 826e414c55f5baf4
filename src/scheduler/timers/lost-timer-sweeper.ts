/**
 * Sweeper that finds lost timers. Timers are derived from stored state and written with it (ADR 0007), so it should never find one. But
 * without it a fault of Duelog that loses a timer would only show as a job that never fires again.
 *
 * It reads the jobs, a few at a time, and only while nothing is due. A timer that is overdue at that moment is lost. It also finds times
 * that no correct clock can have set, and has them corrected (streams/jobs/misdated-times.ts).
 *
 * The checks of runs that wait for a handler do not follow from the state alone, so a lost one cannot be told from one that has moved. Their
 * times are known, so it stores them in any case: most often this changes nothing.
 */
import { misdatedTimersOf } from '../../../streams/jobs/index.ts'
import { waitChecksOf } from '../../../streams/runs/index.ts'
import {
  definitionKey,
  emptyValue,
  jobIdOfKey,
  keyAfter,
  prefix,
  rangeOf,
  type Timer,
  type TimerKind,
  timerKey,
  timerKind,
  timersOf,
} from '../../../streams/state/index.ts'
import { atSteady } from '../../ground/clock/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'
import { SearchBudget, type Shared } from '../options/index.ts'
import { eachJob, weightOf } from '../state/index.ts'

/** Jobs of one call. They are decoded without a pause while other partitions fire in this process. A million jobs in four partitions take 83 min. */
const jobsPerSweep = 100
/** Bytes of one call, so that it reads fewer heavy jobs. */
const bytesPerSweep = 1024 * 1024
/** Search steps of one call, about 2 ms, for jobs whose rules need searches: timers that fall due wait for it. */
const stepsPerSweep = 200_000
const sweepEveryMs = 2_000
/** A timer that is overdue by less may be in the current commit cycle. */
const lostAfterMs = 60_000
/**
 * The time of a lease moves with its heartbeats, which no state holds. If its timer is lost, the attempt timeout remains. A deletion
 * has no timer while its tombstone is being written.
 */
const unwatched: readonly TimerKind[] = [timerKind.lease, timerKind.delete]

export class LostTimerSweeper {
  readonly #store: PartitionStore
  readonly #shared: Pick<Shared, 'codecs' | 'clock' | 'metrics' | 'logger'>
  /** The last job that was checked. */
  #cursor: string | undefined
  /** By the steady clock, so that a wall clock that is set back does not delay it. */
  #nextSweepSteadyMs: number

  constructor(store: PartitionStore, shared: Pick<Shared, 'codecs' | 'clock' | 'metrics' | 'logger'>) {
    this.#store = store
    this.#shared = shared
    this.#nextSweepSteadyMs = shared.clock.steadyMs() + sweepEveryMs
  }

  /** When to call `sweep` again. */
  get nextSweepAt(): number {
    return atSteady(this.#shared.clock, this.#nextSweepSteadyMs)
  }

  get isDue(): boolean {
    return this.#shared.clock.steadyMs() >= this.#nextSweepSteadyMs
  }

  /**
   * Checks the next few jobs. Call it only while nothing is due. `onTimerScheduled` is called with each timer that is stored again. Resolves with
   * timers for jobs with times that must be corrected. A commit cycle with these timers makes the correction.
   */
  async sweep(now: number, onTimerScheduled: (timer: Timer) => void): Promise<Timer[]> {
    this.#nextSweepSteadyMs = this.#shared.clock.steadyMs() + sweepEveryMs
    const ids = await this.#nextIds()
    const lost: Timer[] = []
    const checks: Timer[] = []
    const misdated: Timer[] = []
    let bytes = 0
    const budget = new SearchBudget(stepsPerSweep)
    for await (const job of eachJob(this.#store, this.#shared.codecs, ids)) {
      const checksOfJob = waitChecksOf(job, now)
      checks.push(...checksOfJob)
      lost.push(...timersOf(job).filter((timer) => isLost(timer, now) && !checksOfJob.some((check) => isSameWait(check, timer))))
      misdated.push(...misdatedTimersOf(job, now))
      bytes += weightOf(job)
      if (bytes < bytesPerSweep && !budget.isOver) continue
      this.#cursor = job.id
      break
    }
    for (const jobId of new Set(misdated.map((timer) => timer.jobId)))
      this.#shared.logger.warn(
        { event: 'times-corrected', jobId },
        `Times of job ${jobId} were set by a clock that was ahead; they are corrected.`,
      )
    const again = [...lost, ...checks]
    if (again.length === 0) return misdated
    for (const timer of again) onTimerScheduled(timer)
    for (const timer of lost) {
      this.#shared.metrics.timersRearmed.inc()
      this.#shared.logger.error(
        { event: 'timer-lost', timer },
        `A timer of job ${timer.jobId} was lost and is set again; please report this.`,
      )
    }
    await this.#store.apply(again.map((timer) => ({ key: timerKey(timer), value: emptyValue })))
    return misdated
  }

  async #nextIds(): Promise<string[]> {
    const { from, to } = rangeOf(prefix.definition)
    const start = this.#cursor === undefined ? from : keyAfter(definitionKey(this.#cursor))
    const entries = await this.#store.scan({ from: start, to, limit: jobsPerSweep, keysOnly: true })
    const ids = entries.map(({ key }) => jobIdOfKey(key))
    // After the last job it starts again with the first.
    this.#cursor = ids.length < jobsPerSweep ? undefined : ids.at(-1)
    return ids
  }
}

const isSameWait = (check: Timer, { kind, runNo }: Timer): boolean => check.kind === kind && check.runNo === runNo

const isLost = ({ dueAt, kind }: Timer, now: number): boolean => dueAt < now - lostAfterMs && !unwatched.includes(kind)
