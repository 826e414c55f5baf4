/** State of a partition in the store and in the changelog. */
export { ActiveJobs, activeJobsMax } from './active-jobs.ts'
export {
  type ChangelogState,
  type Checkpoint,
  checkpointOp,
  emptyChangelogState,
  foreign,
  idleCheckMs,
  isBesideTheLog,
  isOfOtherVersion,
  ownerKey,
  positionKey,
  readCheckpoint,
  readCheckpointAndClaim,
  readEntry,
  TombstoneGuard,
  unusable,
} from './checkpoint.ts'
export { eachJob, HeavyJobs, loadFollowUps, loadJobs, loadSnapshot, weightOf } from './job-loader.ts'
export { StoreFailures, withStoreFaults, withStoresFaults, worksAfterMs } from './store-faults.ts'
export { changelogOps, entryOf, loggedState, putRetainedDefinitions, queueEntryOps } from './stored-entries.ts'
