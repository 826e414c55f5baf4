/** What the owners of all partitions say, as one answer. */
export { dueJobsOf, forecastOf, listLimits, listPartitions } from './partitions.ts'
export { listPools, serviceReasonsOf, withPause } from './pools.ts'
export { ReadConsistency, staleHeader, unknownYet, type WaitTimeout, waitTimeout } from './read-consistency.ts'
export { listExecutors, listWorkers, membersByPool, withWorkerPause } from './workers.ts'
