/** One commit cycle: choose, apply to jobs, commit, store. */
export { type CommitContext, LocalStore } from './commit-context.ts'
export {
  batchRecordsMax,
  type CycleOptions,
  type CycleResult,
  logPosition,
  runCommitCycle,
  saveCheckpoint,
} from './commit-cycle.ts'
export { FailureIsolation } from './failure-isolation.ts'
export type { CycleRoom, Decisions, Hook, HookedCycle, PartitionHook } from './hooks.ts'
export { TimerSource } from './timer-source.ts'
