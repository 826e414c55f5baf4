/** The wiring: from settings to a running system. */

export { tellMetrics } from './child-metrics.ts'
export { followNote } from './processes-note.ts'
export { planOf, type RolePlan, tellFailed, tellReady } from './role-child.ts'
export { type System, startSystem } from './system.ts'
