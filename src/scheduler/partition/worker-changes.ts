/** Lets runs that depend on the workers of their pool follow a change of these workers, sooner than their own timers would. */
import { type Timer, timerKind } from '../../../streams/state/index.ts'
import { atSteady } from '../../clock/index.ts'
import type { FollowPace } from './follow-pace.ts'
import type { PartitionContext } from './partition-context.ts'

/** Bytes of heavy jobs that one commit cycle takes beside its own timers. */
export const heavyBytesMax = 1024 * 1024
/** Rest before all runs follow once more, for each of them, and at most. Otherwise workers that come and go all the time would keep an owner of 100,000 waiting runs busy. */
const restMsPerRun = 1
const restMsMax = 60_000

export class WorkerChanges {
  readonly #context: PartitionContext
  readonly #pace: Pick<FollowPace, 'max'>
  /** Runs that have not followed yet. A change meanwhile lets all of them follow once more, after these. */
  #left: Iterator<Timer> | undefined
  #version: number
  /** By the steady clock: when all runs may follow again. */
  #restsUntilMs = Number.NEGATIVE_INFINITY

  /** `pace`: the others follow in the next cycles, so that due timers do not wait for all of them. */
  constructor(context: PartitionContext, pace: Pick<FollowPace, 'max'>) {
    this.#context = context
    this.#pace = pace
    this.#version = context.shared.poolWorkers?.version ?? 0
  }

  /** Timers for the current commit cycle, which also takes `others` timers. They are never stored. */
  timers(now: number, others: number): Timer[] {
    const { shared, failureIsolation, heavyJobs } = this.#context
    const { version = 0 } = shared.poolWorkers ?? {}
    if (this.#left === undefined) {
      if (!this.areLeft) return []
      this.#version = version
      const restMs = Math.min(this.#context.activeRuns.workerBound.size * restMsPerRun, restMsMax)
      this.#restsUntilMs = shared.clock.steadyMs() + restMs
      this.#left = this.#timersOfAll(now)
    }
    const most = failureIsolation.fitting(this.#pace.max, others)
    const timers: Timer[] = []
    let heavyBytes = 0
    while (timers.length < most && heavyBytes < heavyBytesMax) {
      const next = this.#left.next()
      if (next.done === true) {
        this.#left = undefined
        break
      }
      timers.push(next.value)
      heavyBytes += heavyJobs.of(next.value.jobId)
    }
    return timers
  }

  /** Whether some are to follow now. */
  get areLeft(): boolean {
    return this.#left !== undefined || (this.#hasChanged && this.#context.shared.clock.steadyMs() >= this.#restsUntilMs)
  }

  /** When they are to follow after a rest; Infinity: never. */
  get nextCheckAt(): number {
    return this.#hasChanged ? atSteady(this.#context.shared.clock, this.#restsUntilMs) : Number.POSITIVE_INFINITY
  }

  get #hasChanged(): boolean {
    return (this.#context.shared.poolWorkers?.version ?? 0) !== this.#version
  }

  *#timersOfAll(now: number): Generator<Timer, void> {
    for (const [jobId, runNos] of [...this.#context.activeRuns.workerBound]) {
      for (const runNo of runNos) yield { dueAt: now, kind: timerKind.workers, jobId, runNo }
    }
  }
}
