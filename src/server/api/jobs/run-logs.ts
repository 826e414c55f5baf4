/**
 * Lines that runs have written. They are read from the job's partition of the topic, where lines of all runs are mixed, from the time
 * at which the run started. Each answer reads a bounded part; the next one continues at its cursor. Few read at once, whoever asks.
 */
import { fieldOf, type RunLog, type RunLogLine, runLogSchema } from '../../../../schemas/index.ts'
import { cutText, isoTime } from '../../../../streams/text/index.ts'
import type { TopicNames } from '../../../../streams/topics/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import { FairSlots } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Asker, Codec, RangeReader, RecordIn } from '../../../ground/ports/index.ts'
import { runLogAnswerBytesMax, runLogFetchBytes, runLogReadsAtOnce, runLogScanBytesMax, runLogScanMs } from '../schemas/index.ts'

export interface RunLogSource {
  ranges: RangeReader
  codec: Codec<RunLog, never>
}

export interface RunLogsOptions {
  /** Absent: this process serves no lines. */
  runLogs?: RunLogSource | undefined
  names: TopicNames
  clock: Clock
}

export interface WantedLines {
  jobId: string
  runNo: number
  /** Life of the run. Empty: unknown, and lines of any life are taken. */
  life: string
  partition: number
  /** Epoch ms of the brokers. */
  fromMs: number
  /** Undefined: to the end of the topic. */
  toMs: number | undefined
  /** Whether lines may still come after those that are there. */
  isOpen: boolean
  cursor: string | undefined
  limit: number
}

export interface ShownLine {
  at: string | number
  level: string
  text: string
  fields: Record<string, string | number | boolean | null> | null
  shortened: boolean
  attempt: number
  no: number
  worker: string
}

export interface LinesPage {
  lines: ShownLine[]
  cursor: string | null
  caughtUp: boolean
  unreadable: number
}

/** Lines before this one were in earlier answers. */
interface Place {
  offset: number
  /** Lines of the record that were. */
  skip: number
}

export class RunLogs {
  readonly #options: RunLogsOptions
  readonly #slots: FairSlots

  constructor(options: RunLogsOptions) {
    this.#options = options
    this.#slots = new FairSlots({ what: 'requests for lines of runs', places: runLogReadsAtOnce, clock: options.clock })
  }

  /** Rejects with `bad-request` for a foreign cursor, and with `overloaded`, `broker-unavailable` or `unsafe-topic`. */
  page(wanted: WantedLines, asker: Asker): Promise<LinesPage> {
    const { runLogs, names, clock } = this.#options
    const place = placeOf(wanted.cursor)
    if (runLogs === undefined)
      throw new DuelogError('not-ready', 'This process serves no lines of runs; ask one with the role api.')
    return this.#slots
      .run(() => new Scan(runLogs, names.runLogs, clock, wanted).run(place, asker.signal), asker)
      .catch((error: unknown) => {
        throw error instanceof DuelogError && error.code === 'unsafe-topic' ? withoutTopic(names.runLogs, error) : error
      })
  }
}

const withoutTopic = (topic: string, cause: DuelogError): DuelogError =>
  new DuelogError(
    'unsafe-topic',
    `Lines of runs cannot be read, because the topic ${topic} does not exist. Create it with \`duelog topics apply\`. Runs are not affected.`,
    { cause },
  )

/** One request. */
class Scan {
  readonly #source: RunLogSource
  readonly #topic: string
  readonly #clock: Clock
  readonly #wanted: WantedLines
  readonly #key: Buffer
  readonly #lines: ShownLine[] = []
  /** Records that were seen, because a producer may write one twice. */
  readonly #seen = new Set<string>()
  #bytes = 0
  #unreadable = 0

  constructor(source: RunLogSource, topic: string, clock: Clock, wanted: WantedLines) {
    this.#source = source
    this.#topic = topic
    this.#clock = clock
    this.#wanted = wanted
    this.#key = Buffer.from(wanted.jobId)
  }

  async run(begin: Place | undefined, signal: AbortSignal | undefined): Promise<LinesPage> {
    const { partition, fromMs, toMs, isOpen } = this.#wanted
    const topicPartition = { topic: this.#topic, partition }
    const { from, to } = await this.#source.ranges.range(topicPartition, fromMs, toMs)
    let place: Place = begin === undefined || begin.offset < from ? { offset: from, skip: 0 } : begin
    const untilMs = this.#clock.steadyMs() + runLogScanMs
    let scanned = 0
    while (place.offset < to && scanned < runLogScanBytesMax && this.#clock.steadyMs() < untilMs) {
      signal?.throwIfAborted()
      const { records, next } = await this.#source.ranges.read({ ...topicPartition, offset: place.offset }, runLogFetchBytes)
      for (const record of records) {
        if (record.offset >= to) break
        scanned += record.value?.length ?? 0
        const full = await this.#take(record, record.offset === place.offset ? place.skip : 0)
        if (full !== undefined) return this.#page({ offset: record.offset, skip: full }, false)
        place = { offset: record.offset + 1, skip: 0 }
      }
      // The broker has nothing more, although the end is not reached: the last records have expired.
      if (next <= place.offset && records.length === 0) place = { offset: to, skip: 0 }
      else if (next > place.offset) place = { offset: Math.min(next, to), skip: 0 }
    }
    const caughtUp = place.offset >= to
    return this.#page(caughtUp && !isOpen ? undefined : place, caughtUp)
  }

  #page(next: Place | undefined, caughtUp: boolean): LinesPage {
    const cursor = next === undefined ? null : Buffer.from(`${next.offset}.${next.skip}`).toString('base64url')
    return { lines: this.#lines, cursor, caughtUp, unreadable: this.#unreadable }
  }

  /** Takes the lines of the record. A number: the answer is full, and so many of them were taken or skipped. */
  async #take(record: RecordIn, skip: number): Promise<number | undefined> {
    if (record.key === null || record.value === null || !record.key.equals(this.#key)) return undefined
    const log = await this.#logOf(record.value)
    if (log === undefined) this.#unreadable++
    if (log === undefined || log.jobId !== this.#wanted.jobId || log.runNo !== this.#wanted.runNo) return undefined
    const { life, attempt, worker, firstNo, lines } = log
    // A job that was deleted and defined again shortly after: its runs had the same numbers.
    if (life !== '' && this.#wanted.life !== '' && life !== this.#wanted.life) return undefined
    const mark = JSON.stringify([life, attempt, worker, firstNo, lines.length, lines[0]?.at])
    if (this.#seen.has(mark)) return undefined
    for (const [index, line] of lines.entries()) {
      if (index < skip) continue
      if (this.#lines.length >= this.#wanted.limit || this.#bytes >= runLogAnswerBytesMax) return index
      const shown = shownLine(line)
      this.#bytes += shown.text.length + (line.fields?.length ?? 0)
      this.#lines.push({ ...shown, attempt, no: firstNo + index, worker: worker.slice(0, workerCharsMax) })
    }
    this.#seen.add(mark)
    return undefined
  }

  /** Undefined for a record that is no RunLog: any client may write to the topic. */
  async #logOf(value: Buffer): Promise<RunLog | undefined> {
    try {
      return await this.#source.codec.decode(value)
    } catch (error) {
      if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
      return undefined
    }
  }
}

const levels: readonly string[] = ['debug', 'info', 'warn', 'error']
const lineSchema = runLogSchema.fields[6].type.items
const textCharsMax = fieldOf(lineSchema, 'text').maxBytes as number
const fieldsCharsMax = fieldOf(lineSchema, 'fields').maxBytes as number
const workerCharsMax = 512

/** A worker in another language may not keep the limits, so they are applied again. */
function shownLine({ at, level, text, fields, shortened }: RunLogLine): Omit<ShownLine, 'attempt' | 'no' | 'worker'> {
  const shownFields = fieldsOf(fields)
  return {
    at: isoTime(at),
    level: levels.includes(level) ? level : 'info',
    text: cutText(text, textCharsMax),
    fields: shownFields,
    shortened: shortened || text.length > textCharsMax || (fields !== null && shownFields === null),
  }
}

function fieldsOf(json: string | null): ShownLine['fields'] {
  if (json === null || json.length > fieldsCharsMax) return null
  try {
    const fields: unknown = JSON.parse(json)
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return null
    return Object.values(fields).every(isFlat) ? (fields as ShownLine['fields']) : null
  } catch {
    return null
  }
}

const isFlat = (value: unknown): boolean => value === null || ['string', 'number', 'boolean'].includes(typeof value)

function placeOf(cursor: string | undefined): Place | undefined {
  if (cursor === undefined) return undefined
  const [, offset, skip] = /^(\d{1,15})\.(\d{1,7})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? []
  if (offset === undefined || skip === undefined)
    throw new DuelogError('bad-request', 'The cursor was not made by this route; leave it out to start from the first line.')
  return { offset: Number(offset), skip: Number(skip) }
}
