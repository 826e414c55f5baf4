/** When a schedule is due: intervals, cron, recurrence rules, time zones, jitter. */
export { cronProblem, cronRecurrence } from './cron.ts'
export { dstNote } from './dst-note.ts'
export { dueAtOf, latestDue } from './jitter.ts'
export {
  countFires,
  firstFire,
  latestFire,
  nextFire,
  nextFireAfterEnd,
  nextFireUnbounded,
  occurrences,
  type ScheduleSource,
} from './next-fire.ts'
export { nthLatestFire } from './nth-latest.ts'
export { namesEveryHour, rruleOf } from './rrule.ts'
export { neverFires, neverFiresFrom, rruleProblem } from './rrule-problem.ts'
export { stepsPerMs, stepsSpent } from './steps.ts'
export { zoneOf } from './zone.ts'
export { decidedTime, followsZone, type Move, nextByRules } from './zone-moves.ts'
