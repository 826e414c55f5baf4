/** The wiring: from settings to a running system. */

export { tellMetrics } from './child-metrics.ts'
export { tellJoined } from './child-state.ts'
export { followNote } from './processes-note.ts'
export { type System, startSystem } from './system.ts'
