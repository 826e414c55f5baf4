/**
 * Log lines about single records, a few for each topic: whoever writes garbage to a topic by the million must not fill the disk with what is
 * said of it. All of it is counted in metrics; the next line says how many were left out.
 * And lines about what is tried again, one of each text a minute: while brokers or the registry are away each part says so with every try, and
 * each for all that it reads. The first is written at once, the next says how many were left out.
 */
import type { LoggerOptions } from 'pino'

/** Lines of one topic within a window. */
const linesMax = 20
const windowMs = 10_000
/** Topics whose lines are counted; those of all others are counted together. */
const topicsMax = 1_000
const warnLevel = 40
/** How lines end that come with each try of something until it succeeds. */
const ofEachTry = /( again|; firing goes on|are used meanwhile)\.?$/
const triesMs = 60_000
/** Such texts that are known at a time; they are ours, so there are few. */
const textsMax = 100

interface Window {
  sinceMs: number
  lines: number
  leftOut: number
}

/** Whether a line is written, and how many before it were not. `nowMs`: of any clock that only goes forward. */
export class RecordLogLimiter {
  readonly #nowMs: () => number
  readonly #windows = new Map<string, Window>()
  readonly #tries = new Map<string, Window>()

  constructor(nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Undefined: it is left out. */
  take(topic: string): { leftOut: number } | undefined {
    return this.#take(this.#windows, topic, { namesMax: topicsMax, forMs: windowMs, most: linesMax })
  }

  /** The same of a line that comes with each try of something. */
  takeTry(text: string): { leftOut: number } | undefined {
    return this.#take(this.#tries, text.replace(/\d+/g, '#'), { namesMax: textsMax, forMs: triesMs, most: 1 })
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

/** Options of a logger that writes so few of them. A line is about a record if it names topic and offset, and about a try by how it ends. */
export function limitRecordLogs(lines = new RecordLogLimiter()): Pick<LoggerOptions, 'hooks'> {
  return {
    hooks: {
      logMethod(args, method, level) {
        const [about, ...rest] = args as unknown[]
        const topic = topicOf(about)
        const text = typeof about === 'string' ? about : String(rest[0])
        const isOfTry = ofEachTry.test(text)
        if (level < warnLevel || (topic === undefined && !isOfTry)) return method.apply(this, args)
        const taken = isOfTry ? lines.takeTry(text) : lines.take(topic as string)
        if (taken === undefined) return
        if (taken.leftOut === 0) return method.apply(this, args)
        const more = { linesLeftOut: taken.leftOut }
        method.apply(
          this,
          (typeof about === 'string' ? [more, ...args] : [{ ...(about as object), ...more }, ...rest]) as typeof args,
        )
      },
    },
  }
}

function topicOf(about: unknown): string | undefined {
  if (typeof about !== 'object' || about === null) return undefined
  const { topic, offset } = about as { topic?: unknown; offset?: unknown }
  return typeof topic === 'string' && offset !== undefined ? topic : undefined
}
