/** Runs handlers: due times, slots, batches, timeouts, heartbeats. */
export { clearTheWay, handBack, handOver, lastReportsMsMax } from './hand-back.ts'
export { PoolPauseWatch } from './pool-pause-watch.ts'
export { Runner } from './runner.ts'
export { TimerQueue } from './timer-queue.ts'
export { UntrackedRuns } from './untracked-runs.ts'
