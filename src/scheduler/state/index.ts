/** What the store and the changelog hold of a partition. */

export { type Claimed, type ForeignChangelog, type Logged, nothingLogged } from './changelog.ts'
export { changelogOps } from './changelog-restore.ts'
export {
  isBesideTheLog,
  isOfOtherVersion,
  type LocalRecord,
  localOp,
  outdated,
  ownerKey,
  positionKey,
  readEntry,
  readLocal,
  readLocalAndClaim,
  unusable,
} from './checkpoint.ts'
export { Weights } from './heavy-jobs.ts'
export { eachJob, keptBytes, knownDefinition, loadJobs, loadSnapshot, weightOf } from './job-loader.ts'
export { waiterOps } from './queue-entries.ts'
export { putKeptDefinitions } from './retained-definitions.ts'
export { StoreFailures, worksAfterMs } from './store-failures.ts'
export { withStoreFaults, withStoresFaults } from './store-faults.ts'
export { entryOf, loggedState } from './stored-entry.ts'
export { Freshness, lookMs } from './tombstone-guard.ts'
