/** Commands that compute schedules. */
export { scheduleCommand } from './preview-command.ts'
