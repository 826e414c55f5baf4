/**
 * The functions with which the oracle reads a log, written from docs/TOPICS.md and the schema files, with avsc alone. They share
 * no function with the program, so that a mistake of the program is not repeated here (test/house/oracle.test.ts checks that).
 */
import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import avro, { type Schema } from 'avsc'
import type {
  DeadLetter,
  EndedRun,
  Execution,
  ExecutionEvent,
  JobCommand,
  JobDefinition,
  Pause,
  StateEntry,
  WorkerControl,
} from '../../../schemas/generated.ts'
import type { Entry, MemoryLog, Place } from '../../tools/memory-log.ts'

/** Topics of the simulated cluster. */
export const topics = {
  jobs: 'model.jobs',
  commands: 'model.job-commands',
  state: 'model.job-state',
  events: 'model.execution-events',
  deadLetters: 'model.executions.dlq',
  control: 'model.worker-control',
  executions: 'model.executions.default',
  retry: 'model.retry.',
  runs: 'model.runs',
  pauses: 'model.pauses',
} as const

/** Header names of docs/TOPICS.md and docs/TARGETS.md. */
export const headerNames = {
  observedOffset: 'observed-offset',
  observedDeleteAt: 'observed-delete-at',
  onlyOver: 'only-over',
  onlyNew: 'only-new',
  moved: 'duelog-moved',
  appendedAt: 'duelog-appended-at',
  correlationId: 'duelog-correlation-id',
  jobId: 'duelog-job-id',
  runNo: 'duelog-run-no',
  scheduledFor: 'duelog-scheduled-for',
} as const

const copiedBytesMax = 1_024

function reader<Value>(name: string, id: number): (bytes: Buffer) => Value {
  const file = new URL(`../../../schemas/${name}.avsc`, import.meta.url)
  const type = avro.Type.forSchema(JSON.parse(readFileSync(file, 'utf8')) as Schema)
  const known = new WeakMap<Buffer, Value>()
  return (bytes) => {
    const before = known.get(bytes)
    if (before !== undefined) return before
    if (bytes.length < 5 || bytes[0] !== 0 || bytes.readInt32BE(1) !== id) throw new Error(`It is no ${name}.`)
    const value = shared(type.fromBuffer(bytes.subarray(5)) as Value, bytes)
    known.set(bytes, value)
    return value
  }
}

/** Each record is read many times, so decoded values are cached, but no copies of long values. */
function shared<Value>(value: Value, bytes: Buffer): Value {
  const fields = value as Record<string, unknown>
  for (const [name, field] of Object.entries(fields)) {
    const at = Buffer.isBuffer(field) && field.length > copiedBytesMax ? bytes.indexOf(field) : -1
    if (at >= 0) fields[name] = bytes.subarray(at, at + (field as Buffer).length)
  }
  return value
}

/** A text by which two payloads are compared. */
export const markOf = (payload: Buffer | null | undefined): string | undefined =>
  payload && payload.length > copiedBytesMax ? `${payload.length} bytes, ${crc32(payload)}` : payload?.toString()

/** The registry of the simulated cluster assigned these ids. Each function throws for unreadable bytes. */
export const read = {
  definition: reader<JobDefinition>('job-definition', 1),
  command: reader<JobCommand>('job-command', 2),
  state: reader<StateEntry>('job-state', 3),
  execution: reader<Execution>('execution', 4),
  event: reader<ExecutionEvent>('execution-event', 5),
  deadLetter: reader<DeadLetter>('dead-letter', 6),
  control: reader<WorkerControl>('worker-control', 7),
  endedRun: reader<EndedRun>('ended-run', 8),
  pause: reader<Pause>('pause', 9),
}

/** The result of a read, or undefined for invalid bytes. */
export function readable<Value>(how: (bytes: Buffer) => Value, bytes: Buffer | null | undefined): Value | undefined {
  if (bytes === null || bytes === undefined) return undefined
  try {
    return how(bytes)
  } catch {
    return undefined
  }
}

/** Whether a read_committed reader gets the entry. */
export const isShown = ({ record, transaction }: Entry): boolean =>
  record !== undefined && (transaction === undefined || transaction.state === 'committed')

/** An entry, and when readers could first see it: once every transaction that had begun before it had ended. */
export interface Shown extends Entry {
  visibleAt: number
  visibleOrder: number
}

/** Every record that was ever visible in the topics whose names begin with this, also records that the log has lost since. */
export const shown = (log: MemoryLog, topicStart: string): Shown[] =>
  placesOf(log, topicStart).flatMap((place) => shownIn(place.log.archive))

export function shownIn(archive: Entry[]): Shown[] {
  const ends = new Map(archive.flatMap((entry) => (entry.record === undefined ? [[entry.transaction, entry] as const] : [])))
  let last = { at: 0, order: 0 }
  return archive.flatMap((entry) => {
    const end = ends.get(entry.transaction) ?? entry
    if (end.order > last.order) last = end
    return isShown(entry) ? [{ ...entry, visibleAt: last.at, visibleOrder: last.order }] : []
  })
}

export const placesOf = (log: MemoryLog, topicStart: string): readonly Place[] => log.allOf(topicStart)

/** A key of the changelog: one letter for the kind, then the subject. */
export function keyOf(key: Buffer): { kind: string; subject: string; name: string } {
  const kind = String.fromCharCode(key[0] ?? 0)
  const end = key.indexOf(0, 1)
  const name = key.toString('utf8', 1)
  return { kind, name, subject: kind === 'R' || kind === 'P' ? key.toString('utf8', 1, end < 0 ? key.length : end) : name }
}

/** Whether a record's key can be the id of a job: 1 to 255 bytes of UTF-8 without control characters, other than . and .. */
export function isJobId(key: Buffer | null | undefined): key is Buffer {
  if (!key || key.length === 0 || key.length > 255) return false
  const id = key.toString()
  return Buffer.from(id).equals(key) && id !== '.' && id !== '..' && !/\p{Cc}/u.test(id)
}

/** The records of a changelog, grouped by transaction. */
export function portionsOf(archive: Entry[]): Entry[][] {
  const portions: Entry[][] = []
  for (const entry of archive.filter(isShown)) {
    const last = portions.at(-1)
    if (last !== undefined && last[0]?.transaction === entry.transaction) last.push(entry)
    else portions.push([entry])
  }
  return portions
}
