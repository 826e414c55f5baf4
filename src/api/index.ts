/** The HTTP API. */
export { createApi } from './api.ts'
export { createAuditTrail } from './audit-trail/index.ts'
export { peerNote, peerToken, urlOfPeer } from './guards/index.ts'
export { readDashboard } from './http/index.ts'
export {
  createHistoryDirectory,
  createOwnerDirectory,
  createProofDirectory,
  type OwnerDirectory,
  type RemoteQueries,
  remoteQueries,
} from './owners/index.ts'
export { operationLimits } from './schemas/index.ts'
