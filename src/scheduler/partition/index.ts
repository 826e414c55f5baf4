/** One partition from its assignment to its end: restore, follow, take over, run. */
export { OpenTransactions } from './open-transactions.ts'
export { Partition } from './partition.ts'
export type { PartitionContext, PartitionRole } from './partition-context.ts'
export type { SchedulerResources } from './process-context.ts'
