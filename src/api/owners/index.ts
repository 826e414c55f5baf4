/** Who owns a partition, and questions to owners in this process and in others. */

export { forecastOf } from './forecast-sum.ts'
export { callerHeader, encodeInternalJson, ownerCalls, partitionsPath, standbyCalls } from './owner-calls.ts'
export { createOwnerDirectory, type OwnerDirectory, type PartitionOwnerView } from './owner-directory.ts'
export { listPartitions } from './partitions.ts'
export { serviceReasonsOf } from './pool-service.ts'
export { countsOf, type ProcessCounts, sumOf } from './process-counts.ts'
export { createProofDirectory, type ProofDirectory } from './proof-directory.ts'
export { ReadConsistency } from './read-consistency.ts'
export { remoteQueries } from './remote-queries.ts'
export { isAway } from './standby-reads.ts'
export { type WaitTimeout, waitTimeout } from './wait-timeout.ts'
export { listWorkers } from './workers.ts'
