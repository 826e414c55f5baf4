/** State of a partition in the store and in the changelog. */

export { type ChangelogState, type Claimed, emptyChangelogState, type ForeignChangelog } from './changelog.ts'
export {
  type Checkpoint,
  checkpointOp,
  isBesideTheLog,
  isOfOtherVersion,
  outdated,
  ownerKey,
  positionKey,
  readCheckpoint,
  readCheckpointAndClaim,
  readEntry,
  unusable,
} from './checkpoint.ts'
export { changelogOps, queueEntryOps } from './derived-entries.ts'
export { HeavyJobs } from './heavy-jobs.ts'
export { eachJob, loadFollowUps, loadJobs, loadSnapshot, weightOf } from './job-loader.ts'
export { putRetainedDefinitions } from './retained-definitions.ts'
export { StoreFailures, withStoreFaults, withStoresFaults, worksAfterMs } from './store-faults.ts'
export { entryOf, loggedState } from './stored-entry.ts'
export { idleCheckMs, TombstoneGuard } from './tombstone-guard.ts'
