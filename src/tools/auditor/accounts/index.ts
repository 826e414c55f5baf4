/** The accounts of jobs: facts from the log that are not judged yet, how they are entered, and which are in memory. */
export {
  AccountCache,
  cachedRunsMax,
  type Fired,
  type JobAccount,
  livesStill,
  openAccount,
  type PendingCalendar,
  planOf,
  type RunAccount,
  runsOf,
  sharedBy,
} from './account.ts'
export { enter } from './entries.ts'
export type { EntryContext } from './run-notes.ts'
export { addNumber, hasNumber, livesOf, unknown } from './run-numbers.ts'
