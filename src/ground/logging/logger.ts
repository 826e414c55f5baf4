/**
 * The logger of the rooms: its methods take a line with the name of an event of the table, and the fields that the table promises. A line
 * without them is an error of the compiler. At run time it is a logger of pino, or one with the same methods.
 */
import type { Bindings, ChildLoggerOptions, LoggerOptions, Logger as PinoLogger } from 'pino'
import { events, type LogEvent, type LogLevel } from './events/index.ts'

type Events = typeof events
export type EventName = keyof Events

type LevelsOf<Name extends EventName> = Events[Name]['level'] extends readonly (infer Level)[] ? Level : Events[Name]['level']
type EventAt<Level extends LogLevel> = { [Name in EventName]: Level extends LevelsOf<Name> ? Name : never }[EventName]

type Words<Text extends string> = Text extends ''
  ? never
  : Text extends `${infer First} ${infer Rest}`
    ? First | Words<Rest>
    : Text
type Needed<Word> = Word extends `${string}?` ? never : Word
type Optional<Word> = Word extends `${infer Name}?` ? Name : never
type FieldsOf<Name extends EventName> = Words<Events[Name]['fields']>

/** One line of an event, without its sentence. */
export type LogLine<Name extends EventName> = { event: Name } & { [Field in Needed<FieldsOf<Name>> & string]: unknown } & {
  [Field in Optional<FieldsOf<Name>>]?: unknown
}

type Say<Level extends LogLevel> = <Name extends EventAt<Level>>(line: LogLine<Name>, sentence: string) => void

type Methods = { [Level in LogLevel]: Say<Level> }

/** What rooms log with. `child` gives a logger of pino, for the lines of handlers of users, which have no event. */
export type Logger = Methods & Pick<PinoLogger, 'child'>

type Level = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** Gives each line of a library that logs by itself the name of an event. Lines that have one keep it. */
class LibraryLogger {
  readonly #logger: PinoLogger
  readonly #event: EventName

  constructor(logger: PinoLogger, event: EventName) {
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
export function libraryLogger(logger: Logger, event: EventName): PinoLogger {
  return new LibraryLogger(logger as PinoLogger, event) as unknown as PinoLogger
}

/**
 * Limits two kinds of log lines. Lines about single records: a few for each topic, so that millions of invalid records do not fill the disk.
 * Metrics count all of them. Lines of events that repeat: one a minute for each event, because every part logs every try while the brokers or the
 * registry are unreachable. The first line is written at once. The next line says how many were left out.
 */

/** Lines of one topic within a window. */
const linesMax = 20
const windowMs = 10_000
/** Topics that are counted one by one. All other topics are counted together. */
const topicsMax = 1_000
const warnLevel = 40
const triesMs = 60_000
const repeated = new Set(Object.entries<LogEvent>(events).flatMap(([name, { repeats }]) => (repeats ? [name] : [])))

interface Window {
  sinceMs: number
  lines: number
  leftOut: number
}

/** Decides whether a line is written, and counts the lines left out before it. `nowMs`: a monotonic clock. */
export class RecordLogLimiter {
  readonly #nowMs: () => number
  readonly #windows = new Map<string, Window>()
  readonly #tries = new Map<string, Window>()

  constructor(nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Undefined: the line is left out. */
  take(topic: string): { leftOut: number } | undefined {
    return this.#take(this.#windows, topic, { namesMax: topicsMax, forMs: windowMs, most: linesMax })
  }

  /** The same for a line of an event that each try logs. */
  takeTry(event: string): { leftOut: number } | undefined {
    return this.#take(this.#tries, event, { namesMax: repeated.size, forMs: triesMs, most: 1 })
  }

  #take(
    windows: Map<string, Window>,
    wanted: string,
    { namesMax, forMs, most }: { namesMax: number; forMs: number; most: number },
  ): { leftOut: number } | undefined {
    const name = windows.has(wanted) || windows.size < namesMax ? wanted : ''
    const nowMs = this.#nowMs()
    const window = windows.get(name) ?? { sinceMs: nowMs, lines: 0, leftOut: 0 }
    windows.set(name, window)
    if (nowMs - window.sinceMs >= forMs) Object.assign(window, { sinceMs: nowMs, lines: 0 })
    if (window.lines >= most) {
      window.leftOut++
      return undefined
    }
    window.lines++
    const { leftOut } = window
    window.leftOut = 0
    return { leftOut }
  }
}

/** Options of a logger with these limits. A line is about a record if it has topic and offset. */
export function limitRecordLogs(lines = new RecordLogLimiter()): Pick<LoggerOptions, 'hooks'> {
  return {
    hooks: {
      logMethod(args, method, level) {
        const [about, ...rest] = args as unknown[]
        if (level < warnLevel || typeof about !== 'object' || about === null) return method.apply(this, args)
        const { event, topic, offset } = about as { event?: unknown; topic?: unknown; offset?: unknown }
        const isOfTry = typeof event === 'string' && repeated.has(event)
        if (!isOfTry && (typeof topic !== 'string' || offset === undefined)) return method.apply(this, args)
        const taken = isOfTry ? lines.takeTry(event) : lines.take(topic as string)
        if (taken === undefined) return
        const line = taken.leftOut === 0 ? about : { ...about, linesLeftOut: taken.leftOut }
        method.apply(this, [line, ...rest] as unknown as typeof args)
      },
    },
  }
}
