/** The audit trail: requested changes with their callers and outcomes. */
export { type AuditAction, auditRequests, recordOutcome } from './audit-hook.ts'
export { AuditLog } from './audit-log.ts'
export { type AuditFilter, type AuditPlace, type AuditTrail, createAuditTrail } from './audit-trail.ts'
export { definitionChanges } from './definition-changes.ts'
