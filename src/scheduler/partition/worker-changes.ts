/** Lets runs that depend on the workers of their pool follow a change of these workers, sooner than their own timers would. */
import { type Timer, timerKind } from '../../../streams/state/index.ts'
import type { PartitionContext } from './partition-context.ts'

/** Runs that follow one change. Further ones follow by their own timers, within a minute. */
const followedMax = 10_000

export class WorkerChanges {
  readonly #context: PartitionContext
  #version: number

  constructor(context: PartitionContext) {
    this.#context = context
    this.#version = context.shared.poolWorkers?.version ?? 0
  }

  /** Timers for the runs, if there was a change since the last call. They are never stored. */
  timers(now: number): Timer[] {
    const { shared, activeRuns } = this.#context
    const { version = 0 } = shared.poolWorkers ?? {}
    if (version === this.#version) return []
    this.#version = version
    const timers: Timer[] = []
    for (const [jobId, runNos] of activeRuns.workerBound) {
      for (const runNo of runNos) timers.push({ dueAt: now, kind: timerKind.workers, jobId, runNo })
      if (timers.length >= followedMax) break
    }
    return timers
  }
}
