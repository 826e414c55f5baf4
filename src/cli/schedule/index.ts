/** Commands that calculate schedules. */
export { scheduleCommand } from './preview-command.ts'
