/** The time index, and what looks through it. */
export { BurstPlanner } from './burst-planner.ts'
export { HeavyTimerSlots } from './heavy-timer-slots.ts'
export { LostTimerSweeper } from './lost-timer-sweeper.ts'
export { TimeIndex } from './time-index.ts'
export { ownZoneRules, ZoneRulesState, ZoneWalk, zoneJobsPerCheck } from './zone-rules.ts'
