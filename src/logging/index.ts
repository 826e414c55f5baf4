/** The logger of the rooms, the table of its events, and the limit on repeated lines. */
export { eventGroups, events, type LogEvent, type LogLevel } from './events/index.ts'
export { libraryLogger } from './library-logger.ts'
export type { EventName, Logger, LogLine } from './logger.ts'
export { limitRecordLogs } from './record-log-limiter.ts'
