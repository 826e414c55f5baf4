/** One partition from its assignment to its end: restore, follow, take over, run. */
export type { PartitionRole, SchedulerResources } from './assignment.ts'
export { OpenTransactions } from './open-transactions.ts'
export { Partition } from './partition.ts'
