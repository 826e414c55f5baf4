/** Writes, lists, batches and calculations of jobs. */
export { type BatchCounts, batchAnswer } from './batch.ts'
export { BulkRedrive } from './bulk-redrive.ts'
export { Commands, keyOf } from './commands.ts'
export { chainText, cyclesInForce, cycleWarning, followersOf } from './cycles.ts'
export { cursorAfter, listJobs } from './job-list.ts'
export { JobWrites, jobNotFound, type Written } from './job-writes.ts'
export { type Computation, ComputeQueue, EventLoopYielder } from './schedule-compute-queue.ts'
export { SearchPreparer } from './search-preparer.ts'
