/** When a schedule is due: intervals, cron, recurrence rules, time zones, jitter. */
export { cronProblem, cronRecurrence } from './cron.ts'
export {
  countFires,
  dueAtOf,
  firstFire,
  latestDue,
  latestFire,
  nextFire,
  nextFireAfterEnd,
  nextFireUnbounded,
  nthLatestFire,
  occurrences,
  type ScheduleSource,
} from './next-fire.ts'
export { namesEveryHour, rruleOf } from './rrule.ts'
export { neverFires, neverFiresFrom, rruleProblem } from './rrule-problem.ts'
export { stepsPerMs, stepsSpent } from './steps.ts'
export { zoneOf } from './zone.ts'
export { decidedTime, dstNote, followsZone, type Move, nextByRules } from './zone-moves.ts'
