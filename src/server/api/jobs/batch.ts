/**
 * Many definitions in one request: lines in, result lines out, in order. While groups of lines are written to the broker, the
 * next group is read and checked. If the client reads the answer slowly, no further lines are read. Memory does not grow with
 * the batch.
 */
import { Readable } from 'node:stream'
import { DuelogError, isOfRecord } from '../../../ground/errors/index.ts'
import { type Line, lineGroups } from '../../../ground/network/index.ts'
import {
  describe,
  etagOf,
  givenId,
  identifiedDefinitionOf,
  type JsonReader,
  type PlacedRecord,
  type ReadingTurns,
  refuseMasks,
  type Version,
} from '../http/index.ts'
import { auditJobIdsMax, batchGroupsMax, batchStatusesMax, bodyBytesMax } from '../schemas/index.ts'
import type { JobWrites } from './job-writes.ts'

type Result = Record<string, unknown>
/** A line with its record to write, or with what was wrong. */
type Checked = { line: number; id: string; record: PlacedRecord } | { result: Result }

export interface BatchCounts {
  done: number
  refused: number
  /** The first jobs that were written. */
  jobIds: string[]
}

/** Counts of one batch, and the last offset that was written in each partition. */
interface Written {
  counts: BatchCounts
  ends: Map<number, number>
  /** The first jobs that were written. */
  first: Map<string, Version>
}

export interface BatchTools {
  writes: JobWrites
  read: JsonReader
  reading: ReadingTurns
  /** The caller that has the turn of each line. */
  caller: string
  /** One more line at the end tells whether all written lines were applied, and which of the first jobs are INVALID. */
  wait?: boolean
  /** Called with faults, which answers do not show. */
  onFault(error: unknown): void
  /** Called with the numbers of written and refused lines, after the last line was read and before the answer ends. */
  onEnd(counts: BatchCounts): Promise<void>
}

/** The answer as a stream. It fails if the request is cut off; complete lines before that are written. */
export function batchAnswer(body: AsyncIterable<Buffer>, tools: BatchTools): Readable {
  return Readable.from(answerGroups(body, tools), { objectMode: false, highWaterMark: 65_536 })
}

async function* answerGroups(body: AsyncIterable<Buffer>, tools: BatchTools): AsyncGenerator<string, void, undefined> {
  const groups = lineGroups(body, bodyBytesMax)
  const writing: Promise<string>[] = []
  const written: Written = { counts: { done: 0, refused: 0, jobIds: [] }, ends: new Map(), first: new Map() }
  const readNext = (): Promise<Line[] | undefined> => {
    const next = groups.next().then(({ done, value }) => (done ? undefined : value))
    // It may fail before it is awaited, because results go first; it fails again where it is awaited.
    next.catch(() => {})
    return next
  }
  let reading: Promise<Line[] | undefined> | undefined = readNext()
  try {
    while (reading !== undefined || writing.length > 0) {
      const oldest = writing[0]
      const full = writing.length >= batchGroupsMax
      if (oldest !== undefined && (reading === undefined || full || (await settlesFirst(oldest, reading)))) {
        yield await oldest
        writing.shift()
        continue
      }
      const group: Line[] | undefined = await reading
      if (group === undefined) reading = undefined
      else {
        // In order: the line that is checked first is written first.
        const checked: Checked[] = []
        for (const line of group) checked.push(await tools.reading.run(() => checkLine(line, tools), tools))
        writing.push(writeGroup(checked, tools, written))
        reading = readNext()
      }
    }
    if (tools.wait) yield `${JSON.stringify(await allApplied(tools.writes, written))}\n`
  } finally {
    await Promise.all(writing)
    await tools.onEnd(written.counts)
  }
}

/** Whether the first settles before the second. A rejection of the second counts as settled and is met again where it is awaited. */
function settlesFirst(first: Promise<unknown>, second: Promise<unknown>): Promise<boolean> {
  return Promise.race([
    first.then(() => true),
    second.then(
      () => false,
      () => false,
    ),
  ])
}

/** Result lines of a group. It never rejects: errors are in the lines. */
async function writeGroup(checked: Checked[], tools: BatchTools, { counts, ends, first }: Written): Promise<string> {
  const records = checked.flatMap((line) => ('record' in line ? [line.record] : []))
  const answers = await writeEach(records, tools)
  let next = 0
  let text = ''
  for (const line of checked) {
    let result: Result
    const answer = 'record' in line ? answers[next++] : undefined
    if ('result' in line) result = line.result
    else if (typeof answer !== 'number') result = refusal(line.line, line.id, answer)
    else {
      const offset = answer
      const { partition } = line.record
      ends.set(partition, Math.max(ends.get(partition) ?? 0, offset))
      if (first.size < batchStatusesMax || first.has(line.id)) first.set(line.id, { partition, offset })
      if (counts.jobIds.length < auditJobIdsMax) counts.jobIds.push(line.id)
      result = accepted(line, offset)
    }
    counts[result.ok === true ? 'done' : 'refused']++
    text += `${JSON.stringify(result)}\n`
  }
  return text
}

/**
 * For each record its offset, or why it was not written. All records together, because that is fast; one by one if the brokers
 * refuse one for its content.
 */
async function writeEach(records: PlacedRecord[], tools: BatchTools): Promise<unknown[]> {
  try {
    const offsets = await tools.writes.writeAll(records)
    if (offsets.length < records.length)
      throw new DuelogError('internal', 'The brokers did not return an offset for each record.')
    return offsets
  } catch (error) {
    tools.onFault(error)
    if (!isOfRecord(error) || records.length === 1) return records.map(() => error)
    return Promise.all(
      records.map((record) =>
        tools.writes.writeAll([record]).then(
          ([offset]) => offset,
          (refused) => refused,
        ),
      ),
    )
  }
}

interface EndLine {
  applied: boolean
  detail?: string
  invalid?: { id: string; reason: string }[]
}

/** Each owner applies in the order of offsets, so the last offset of a partition stands for all. */
async function allApplied(writes: JobWrites, { ends, first }: Written): Promise<EndLine> {
  const waits = [...ends].map(async ([partition, jobs]) => ({ partition, applied: await writes.applied(partition, { jobs }) }))
  const late = (await Promise.all(waits)).flatMap(({ partition, applied }) => (applied ? [] : [partition]))
  if (late.length > 0)
    return { applied: false, ...(await writes.timeoutOf(late, 'All lines are durable in the log, but not every owner')) }
  const invalid = await invalidAmong(writes, first)
  return { applied: true, ...(invalid.length > 0 && { invalid }) }
}

/** One after another: the client of a batch needs no more speed, and owners have other work. */
async function invalidAmong(writes: JobWrites, jobs: ReadonlyMap<string, Version>): Promise<{ id: string; reason: string }[]> {
  const invalid: { id: string; reason: string }[] = []
  for (const [id, version] of jobs) {
    const { status, reason = '' } = await writes.statusInForce(id, version)
    if (status === 'INVALID') invalid.push({ id, reason })
  }
  return invalid
}

function checkLine({ line, bytes }: Line, { writes, read, onFault }: BatchTools): Checked {
  let json: unknown
  try {
    if (bytes === 'too-long') throw new DuelogError('payload-too-large', `The line is longer than ${bodyBytesMax} bytes.`)
    json = read(bytes)
    const { id, definition } = identifiedDefinitionOf(json)
    refuseMasks(json)
    return { line, id, record: writes.definitionRecord(id, definition) }
  } catch (error) {
    if (!(error instanceof DuelogError)) onFault(error)
    return { result: refusal(line, givenId(json), error) }
  }
}

function accepted(
  { line, id, record: { partition } }: { line: number; id: string; record: PlacedRecord },
  offset: number,
): Result {
  return { line, ok: true, id, etag: etagOf({ partition, offset }), partition, offset }
}

function refusal(line: number, id: string | undefined, error: unknown): Result {
  const { code, detail, problems } = describe(error)
  const retriable = error instanceof DuelogError && error.retriable
  return { line, ok: false, ...(id !== undefined && { id }), code, detail, retriable, ...(problems && { problems }) }
}
