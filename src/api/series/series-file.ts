/**
 * The file that keeps the series over a restart: one line of JSON for each minute and each mark, appended. A line that was cut by a crash is
 * skipped. When the file has twice what is kept, it is written again. Without the file, or with a full disk, the series are in memory only.
 */
import { appendFile, open } from 'node:fs/promises'
import type { Logger } from '../../logging/index.ts'
import { privateFileMode, writePrivate } from '../../process/index.ts'
import { seriesDayMs, seriesFileBytesMax, seriesLinesWaitingMax, seriesMarksMax, seriesStepMs } from '../schemas/index.ts'
import type { SeriesMark } from './series-keeper.ts'
import { pointFields, type SeriesPoint } from './series-point.ts'

const linesMax = 2 * (seriesDayMs / seriesStepMs + seriesMarksMax)
const textCharsMax = 1_000
const kinds: readonly SeriesMark['kind'][] = ['start', 'takeover', 'deploy']

export interface SeriesContent {
  points: SeriesPoint[]
  marks: SeriesMark[]
}

export class SeriesFile {
  readonly #path: string
  readonly #logger: Logger
  /** Lines of the file, and lines to append. */
  #lines = 0
  #waiting: string[] = []
  #writing: Promise<void> | undefined
  #isFailing = false

  constructor(path: string, logger: Logger) {
    this.#path = path
    this.#logger = logger
  }

  /** What it has of the last 24 h. Nothing, if it cannot be read. */
  async read(nowMs: number): Promise<SeriesContent> {
    const content: SeriesContent = { points: [], marks: [] }
    for (const line of (await this.#text()).split('\n')) {
      const found = parsed(line)
      if (found === undefined || found.at <= nowMs - seriesDayMs || found.at > nowMs) continue
      if ('kind' in found) content.marks.push(found)
      else content.points.push(found)
    }
    await this.rewrite(content)
    return content
  }

  /** Replaces the file. */
  async rewrite({ points, marks }: SeriesContent): Promise<void> {
    const lines = [...points, ...marks.slice(-seriesMarksMax)].map((each) => JSON.stringify(each))
    await this.#attempt(async () => {
      await writePrivate(this.#path, lines.length === 0 ? '' : `${lines.join('\n')}\n`)
      this.#lines = lines.length
    })
  }

  /** Appends a line in the background. `all` gives what is kept, when the file has to be written again. */
  append(entry: SeriesPoint | SeriesMark, all: () => SeriesContent): void {
    if (this.#waiting.length >= seriesLinesWaitingMax) this.#waiting.shift()
    this.#waiting.push(JSON.stringify(entry))
    this.#writing ??= this.#write(all).finally(() => {
      this.#writing = undefined
    })
  }

  /** Resolves when everything is written, or has failed. */
  async settled(): Promise<void> {
    await this.#writing
  }

  async #write(all: () => SeriesContent): Promise<void> {
    while (this.#waiting.length > 0) {
      const lines = this.#waiting.splice(0)
      if (this.#lines + lines.length > linesMax) {
        await this.rewrite(all())
        continue
      }
      await this.#attempt(async () => {
        await appendFile(this.#path, `${lines.join('\n')}\n`, { mode: privateFileMode })
        this.#lines += lines.length
      })
    }
  }

  async #text(): Promise<string> {
    try {
      const file = await open(this.#path, 'r')
      try {
        const { size } = await file.stat()
        if (size <= seriesFileBytesMax) return await file.readFile('utf8')
        this.#logger.warn(
          { event: 'series-file-replaced', path: this.#path, size },
          'The file of the series is too long to be ours; it is replaced.',
        )
      } finally {
        await file.close()
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.#logger.warn(
          { event: 'series-not-read', err: error, path: this.#path },
          'The series of the last 24 h cannot be read; the charts begin empty.',
        )
    }
    return ''
  }

  /** One line for a disk that stays full. */
  async #attempt(write: () => Promise<void>): Promise<void> {
    try {
      await write()
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing)
        this.#logger.warn(
          { event: 'series-not-saved', err: error, path: this.#path },
          'The series cannot be saved; a restart of this process loses them.',
        )
      this.#isFailing = true
    }
  }
}

const isText = (found: unknown): found is string => typeof found === 'string' && found.length <= textCharsMax

/** Anybody may have changed the file. */
function parsed(line: string): SeriesPoint | SeriesMark | undefined {
  let value: Record<string, unknown>
  try {
    value = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { at, kind, text, version = null } = value
  if (typeof at !== 'number' || !Number.isSafeInteger(at)) return undefined
  if (kind !== undefined) {
    const known = kinds.find((each) => each === kind)
    if (known === undefined || !isText(text) || !(version === null || isText(version))) return undefined
    return { at, kind: known, text, version }
  }
  const entries = pointFields.map((field) => [field, value[field]] as const)
  const isNumber = (found: unknown): boolean => typeof found === 'number' && Number.isFinite(found) && found >= 0
  const mayLack = ['deadLetters', 'p50Ms', 'p99Ms', 'maxMs']
  if (!entries.every(([field, found]) => isNumber(found) || (found === null && mayLack.includes(field)))) return undefined
  return { at, ...Object.fromEntries(entries) } as unknown as SeriesPoint
}
