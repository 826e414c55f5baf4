/** The scheduler of a process: owns partitions and fires what is due. */
export { WholeSearches } from './queries/index.ts'
export { Scheduler } from './scheduler.ts'
