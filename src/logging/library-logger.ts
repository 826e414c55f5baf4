/** Gives each line of a library that logs by itself the name of an event. Lines that have one keep it. */
import type { Bindings, ChildLoggerOptions, Logger } from 'pino'
import type { EventName, Logger as RoomLogger } from './logger.ts'

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

class LibraryLogger {
  readonly #logger: Logger
  readonly #event: EventName

  constructor(logger: Logger, event: EventName) {
    this.#logger = logger
    this.#event = event
  }

  get level(): string {
    return this.#logger.level
  }

  set level(level: string) {
    this.#logger.level = level
  }

  child(bindings: Bindings, options?: ChildLoggerOptions): LibraryLogger {
    return new LibraryLogger(this.#logger.child(bindings, options), this.#event)
  }

  trace(...args: unknown[]): void {
    this.#say('trace', args)
  }

  debug(...args: unknown[]): void {
    this.#say('debug', args)
  }

  info(...args: unknown[]): void {
    this.#say('info', args)
  }

  warn(...args: unknown[]): void {
    this.#say('warn', args)
  }

  error(...args: unknown[]): void {
    this.#say('error', args)
  }

  fatal(...args: unknown[]): void {
    this.#say('fatal', args)
  }

  silent(): void {}

  #say(level: Level, [first, ...rest]: unknown[]): void {
    const event = this.#event
    if (first instanceof Error) this.#logger[level]({ event, err: first }, ...(rest as string[]))
    else if (typeof first === 'object' && first !== null) this.#logger[level]({ event, ...first }, ...(rest as string[]))
    else this.#logger[level]({ event }, ...([first, ...rest] as string[]))
  }
}

/** The same logger for a library: `event` is the name of the lines that have none. */
export function libraryLogger(logger: RoomLogger, event: EventName): Logger {
  return new LibraryLogger(logger as Logger, event) as unknown as Logger
}
