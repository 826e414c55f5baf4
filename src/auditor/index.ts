/** Reads the log of any cluster and judges whether each occurrence fired exactly once. */
export { audit } from './auditor.ts'
export { Pacing } from './pacing.ts'
export { type Auditor, createAuditor } from './role.ts'
export { auditText, isClean } from './summary.ts'
