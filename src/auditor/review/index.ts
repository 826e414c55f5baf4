/** Judges accounts: runs, occurrences by the calendar, and jobs that are overdue. */
export type { Progress } from './calendar.ts'
export { countRun, isOver, review } from './review.ts'
