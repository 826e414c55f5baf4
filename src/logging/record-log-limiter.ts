/**
 * Limits two kinds of log lines. Lines about single records: a few for each topic, so that millions of invalid records do not fill the disk.
 * Metrics count all of them. Lines of events that repeat: one a minute for each event, because every part logs every try while the brokers or the
 * registry are unreachable. The first line is written at once. The next line says how many were left out.
 */
import type { LoggerOptions } from 'pino'
import { events, type LogEvent } from './events/index.ts'

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
