/**
 * Log lines about single records, a few for each topic: whoever writes garbage to a topic by the million must not fill the disk with what is
 * said of it. All of it is counted in metrics; the next line says how many were left out.
 */
import type { LoggerOptions } from 'pino'

/** Lines of one topic within a window. */
const linesMax = 20
const windowMs = 10_000
/** Topics whose lines are counted; those of all others are counted together. */
const topicsMax = 1_000
const warnLevel = 40

interface Window {
  sinceMs: number
  lines: number
  leftOut: number
}

/** Whether a line is written, and how many before it were not. `nowMs`: of any clock that only goes forward. */
export class RecordLines {
  readonly #nowMs: () => number
  readonly #windows = new Map<string, Window>()

  constructor(nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Undefined: it is left out. */
  take(topic: string): { leftOut: number } | undefined {
    const name = this.#windows.has(topic) || this.#windows.size < topicsMax ? topic : ''
    const nowMs = this.#nowMs()
    const window = this.#windows.get(name) ?? { sinceMs: nowMs, lines: 0, leftOut: 0 }
    this.#windows.set(name, window)
    if (nowMs - window.sinceMs >= windowMs) Object.assign(window, { sinceMs: nowMs, lines: 0 })
    if (window.lines >= linesMax) {
      window.leftOut++
      return undefined
    }
    window.lines++
    const { leftOut } = window
    window.leftOut = 0
    return { leftOut }
  }
}

/** Options of a logger that writes so few of them. A line is about a record if it names topic and offset. */
export function fewRecordLines(lines = new RecordLines()): Pick<LoggerOptions, 'hooks'> {
  return {
    hooks: {
      logMethod(args, method, level) {
        const [about, ...rest] = args as unknown[]
        const topic = level >= warnLevel ? topicOf(about) : undefined
        if (topic === undefined) return method.apply(this, args)
        const taken = lines.take(topic)
        if (taken === undefined) return
        const told = taken.leftOut === 0 ? about : { ...(about as object), linesLeftOut: taken.leftOut }
        method.apply(this, [told, ...rest] as typeof args)
      },
    },
  }
}

function topicOf(about: unknown): string | undefined {
  if (typeof about !== 'object' || about === null) return undefined
  const { topic, offset } = about as { topic?: unknown; offset?: unknown }
  return typeof topic === 'string' && offset !== undefined ? topic : undefined
}
