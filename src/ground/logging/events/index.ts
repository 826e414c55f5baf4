/** Every log event of Duelog. */
export type { LogEvent, LogLevel } from './log-event.ts'
export { eventGroups, events } from './table.ts'
