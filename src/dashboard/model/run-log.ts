/** Reads the lines of a run page by page, and goes on where it stopped. */
import type { RunLogLine, RunLogPage } from '../../answers/index.ts'
import { ask, path } from './request.ts'

/** Lines that the page keeps; the newest ones. */
const linesMax = 2_000
/** Requests of one reading: an answer may be empty while there is more. */
const requestsMax = 10

export interface RunLog {
  lines: RunLogLine[]
  /** Number of earlier lines that are no longer kept. */
  dropped: number
  unreadable: number
  /** No more lines will come. */
  done: boolean
}

export class RunLogReader {
  readonly #place: [string, string, string, number, string]
  #cursor: string | undefined
  #log: RunLog = { lines: [], dropped: 0, unreadable: 0, done: false }

  constructor(jobId: string, runNo: number) {
    this.#place = ['jobs', jobId, 'runs', runNo, 'logs']
  }

  async read(signal: AbortSignal): Promise<RunLog> {
    for (let requests = 0; requests < requestsMax && !this.#log.done; requests++) {
      const page = await ask<RunLogPage>(path(this.#place, { cursor: this.#cursor }), { signal })
      const { dropped, unreadable } = this.#log
      const lines = [...this.#log.lines, ...page.lines]
      const over = Math.max(0, lines.length - linesMax)
      this.#log = {
        lines: lines.slice(over),
        dropped: dropped + over,
        unreadable: unreadable + page.unreadable,
        done: page.cursor === null,
      }
      this.#cursor = page.cursor ?? undefined
      if (page.caughtUp) break
    }
    return this.#log
  }
}
