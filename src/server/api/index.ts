/** The HTTP API. */
export { createApi } from './api.ts'
export { createAuditTrail } from './audit-trail/index.ts'
export { readDashboard } from './http/index.ts'
export { operationLimits } from './schemas/index.ts'
