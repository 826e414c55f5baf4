/** The accounts of jobs: facts from the log that are not judged yet, how they are entered, and which are in memory. */
export {
  type Fired,
  type JobAccount,
  livesStill,
  openAccount,
  type PendingCalendar,
  planOf,
  type RunAccount,
  runsOf,
} from './account.ts'
export { AccountCache, cachedRunsMax, sharedBy } from './account-cache.ts'
export { enter } from './entries.ts'
export type { EntryContext } from './run-notes.ts'
export { addNumber, hasNumber, livesOf, unknown } from './run-numbers.ts'
