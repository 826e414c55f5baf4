/** One commit cycle: choose, apply to jobs, commit, store. */
export { AnnouncedChanges } from './announced-changes.ts'
export { BulkChanges } from './bulk-changes.ts'
export type { CommitContext } from './commit-context.ts'
export { batchRecordsMax, type CycleOptions, type CycleResult, runCommitCycle } from './commit-cycle.ts'
export { FailureIsolation } from './failure-isolation.ts'
export { TimerSource } from './timer-source.ts'
export { logPosition, saveCheckpoint } from './transaction.ts'
