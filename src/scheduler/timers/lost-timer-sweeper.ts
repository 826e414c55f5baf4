/**
 * A net below the time index. Timers follow from what is stored and are written with it (ADR 0007), so nothing should ever fall into it:
 * a fault of ours that loses a timer would else show as a job that never fires again, and as nothing else.
 *
 * It walks over the jobs, a few at a time, and only while nothing is due. Whatever is overdue then has no timer. And whatever waits for a
 * time that no right clock can have set is put right (streams/jobs/stray.ts).
 */
import { strayTimersOf } from '../../../streams/jobs/index.ts'
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
import { atSteady } from '../../clock/index.ts'
import type { PartitionStore } from '../../ports/index.ts'
import { SearchBudget, type Shared } from '../options/index.ts'
import { eachJob, weightOf } from '../state/index.ts'

/** A few jobs each time: they are decoded in one go, and others fire in this process. All of a million in four partitions are seen in 83 min. */
const jobsPerLook = 100
/** Of heavy jobs fewer: what is read in one go. */
const bytesPerLook = 1024 * 1024
/** Of jobs whose rules take searches fewer too: about two milliseconds, which what falls due waits for. */
const stepsPerLook = 200_000
const lookEveryMs = 2_000
/** What is overdue by less may be on its way. */
const lostAfterMs = 60_000
/**
 * The time of a lease moves with its heartbeats, which is in no state; without its timer the timeout of the attempt is left. A deletion
 * has no timer while its tombstone is on its way.
 */
const unwatched: readonly TimerKind[] = [timerKind.lease, timerKind.delete]

export class LostTimerSweeper {
  readonly #store: PartitionStore
  readonly #shared: Pick<Shared, 'codecs' | 'clock' | 'metrics' | 'logger'>
  /** The last job that was looked at. */
  #cursor: string | undefined
  /** By the steady clock: one that is set back must not hold it up. */
  #lookAt: number

  constructor(store: PartitionStore, shared: Pick<Shared, 'codecs' | 'clock' | 'metrics' | 'logger'>) {
    this.#store = store
    this.#shared = shared
    this.#lookAt = shared.clock.steadyMs() + lookEveryMs
  }

  /** When to call `look` again. */
  get lookAt(): number {
    return atSteady(this.#shared.clock, this.#lookAt)
  }

  get isDue(): boolean {
    return this.#shared.clock.steadyMs() >= this.#lookAt
  }

  /**
   * Looks at the next few jobs. Only while nothing is due; `written` hears of each timer that is written anew. Resolves with timers for jobs
   * that have times to be set right: a turn that is given them decides that.
   */
  async look(now: number, written: (timer: Timer) => void): Promise<Timer[]> {
    this.#lookAt = this.#shared.clock.steadyMs() + lookEveryMs
    const ids = await this.#nextIds()
    const lost: Timer[] = []
    const stray: Timer[] = []
    let bytes = 0
    const patience = new SearchBudget(stepsPerLook)
    for await (const job of eachJob(this.#store, this.#shared.codecs, ids)) {
      lost.push(...timersOf(job).filter((timer) => isLost(timer, now)))
      stray.push(...strayTimersOf(job, now))
      bytes += weightOf(job)
      if (bytes < bytesPerLook && !patience.isOver) continue
      this.#cursor = job.id
      break
    }
    for (const jobId of new Set(stray.map((timer) => timer.jobId)))
      this.#shared.logger.warn({ jobId }, `Times of job ${jobId} were set by a clock that was ahead; they are set right.`)
    if (lost.length === 0) return stray
    for (const timer of lost) {
      written(timer)
      this.#shared.metrics.timersRearmed.inc()
      this.#shared.logger.error({ timer }, `A timer of job ${timer.jobId} was lost and is set again; please report this.`)
    }
    await this.#store.apply(lost.map((timer) => ({ key: timerKey(timer), value: emptyValue })))
    return stray
  }

  async #nextIds(): Promise<string[]> {
    const { from, to } = rangeOf(prefix.definition)
    const start = this.#cursor === undefined ? from : keyAfter(definitionKey(this.#cursor))
    const entries = await this.#store.scan({ from: start, to, limit: jobsPerLook, keysOnly: true })
    const ids = entries.map(({ key }) => jobIdOfKey(key))
    // Behind the last job it begins anew.
    this.#cursor = ids.length < jobsPerLook ? undefined : ids.at(-1)
    return ids
  }
}

const isLost = ({ dueAt, kind }: Timer, now: number): boolean => dueAt < now - lostAfterMs && !unwatched.includes(kind)
