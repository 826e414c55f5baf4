/** The audit trail: who asked for which change, and what came of it. */
export type { AuditAction } from './audit-action.ts'
export { auditRequests, tell } from './audit-hook.ts'
export { AuditLog } from './audit-log.ts'
export { type AuditFilter, type AuditPlace, type AuditTrail, createAuditTrail } from './audit-trail.ts'
