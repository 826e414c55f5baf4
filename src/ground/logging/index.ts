/** The logger of the rooms, the table of its events, and the limit on repeated lines. */
export { eventGroups, events, type LogEvent, type LogLevel } from './events/index.ts'
export { type EventName, type Logger, type LogLine, libraryLogger, limitRecordLogs } from './logger.ts'
