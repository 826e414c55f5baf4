/** The wiring: from settings to a running system. */
export { type System, startSystem } from './system.ts'
