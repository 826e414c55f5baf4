/** The audit trail: requested changes with their callers and outcomes. */
export { type AuditAction, AuditLog, auditRequests, definitionChanges, recordOutcome } from './audit-hook.ts'
export { type AuditFilter, type AuditPlace, type AuditTrail, createAuditTrail } from './audit-trail.ts'
