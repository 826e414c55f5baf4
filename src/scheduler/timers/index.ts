/** The time index, and what looks through it. */
export { Herds } from './burst-planner.ts'
export { HeavyTurns } from './heavy-timer-slots.ts'
export { Sweeper } from './lost-timer-sweeper.ts'
export { TimeIndex } from './time-index.ts'
export { ZoneStanding } from './zone-rules-state.ts'
export { ZoneWalk, zoneJobsPerLook } from './zone-walk.ts'
