/** Other processes of this Duelog: who has which role, where it is called, and the calls. Begin to read at `src/server/peers/calls.ts`. */
export { type Call, callerHeader, callPath, calls, encodeInternalJson, isHistoryPlace, standbyCalls } from './calls.ts'
export * from './limits.ts'
export { createOwnerDirectory, type Owner, type OwnerDirectory, type PartitionOwnerView } from './owner-directory.ts'
export { type ApiToken, peerNote, peerToken, peerTokens, type Role, rank, urlOfPeer } from './peer-note.ts'
export { countsOf, type ProcessCounts, sumOf } from './process-counts.ts'
export { type RemoteQueries, remoteQueries } from './remote-queries.ts'
export { createHistoryDirectory, createProofDirectory, type ProofDirectory } from './role-directories.ts'
export { isAway, type Staleness } from './standby-reads.ts'
