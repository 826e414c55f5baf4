/** The wiring: from settings to a running system. */

export { followNote } from './executor-processes.ts'
export { planOf, type RolePlan, tellFailed, tellMetrics, tellReady } from './role-child.ts'
export { type System, startSystem } from './system.ts'
