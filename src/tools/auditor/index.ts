/** Reads the log of any cluster and judges whether each occurrence fired exactly once. */
export { audit, auditText, isClean } from './audit.ts'
export { emptyLateness, type Lateness, latenessOf, latenessRows, noteLateness } from './findings/index.ts'
export { type Fact, LogFollower } from './reading/index.ts'
export { Auditor } from './role.ts'
