/** What the table of log events says of each event. */

/** Levels of pino. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal'

export interface LogEvent {
  /** Several only for lines of libraries, which have their own levels. */
  level: LogLevel | readonly LogLevel[]
  /** Names, with a space between them, besides `event`, `msg` and what pino adds. One with `?` is not in each line. */
  fields: string
  meaning: string
  /** What an operator does. Absent for events that need nothing. */
  action?: string
  /** Name of the alert that belongs to it, in docs/RUNBOOK.md. */
  alert?: string
  /** Each try logs it. One line a minute is written, and says how many were left out. */
  repeats?: true
}

export type LogEvents = Record<string, LogEvent>
