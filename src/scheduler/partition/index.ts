/** One partition from its assignment to its end: restore, follow, take over, run. */
export type { PartitionRole } from './assignment.ts'
export { OpenTransactions } from './open-transactions.ts'
export { Partition } from './partition.ts'

export type { SchedulerResources } from './process-context.ts'
