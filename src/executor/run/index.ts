/** Runs handlers: due times, slots, batches, timeouts, heartbeats. */
export { handOn, lastReportsMsMax } from './hand-back.ts'
export { Runner } from './runner.ts'
export { Timetable } from './timer-queue.ts'
export { Untracked } from './untracked-runs.ts'
