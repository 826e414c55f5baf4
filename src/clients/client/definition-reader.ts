/**
 * Encodes jobs as users write them. Most jobs of a bulk differ only in id, time and payload. Such a job is compared with the
 * last one that was checked in full, and takes over everything else from it.
 */
import { type JobDefinition, type JobDefinitionInput, jobDefinitionSchema } from '../../../schemas/index.ts'
import {
  definitionFromJson,
  isJsonType,
  isPayloadTooLarge,
  jsonOfValue,
  validateJobId,
} from '../../../streams/definitions/index.ts'
import { type Problem, parseIsoTime } from '../../../streams/text/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Codec } from '../../ground/ports/index.ts'
import type { Job } from './job.ts'

/** A record must fit into a batch of the log, and a batch into the broker's usual limit of 1 MB. */
export const recordBytesMax = 900_000

const payloadField = jobDefinitionSchema.fields.find((field) => field.name === 'payload')
const payloadBytesMax: number = payloadField !== undefined && 'maxBytes' in payloadField ? payloadField.maxBytes : 0
/** The limits of the schema for an instant and a delay; values beyond them are read in full and refused there. */
const atMsMax = 8_640_000_000_000_000
const delayMsMax = 315_360_000_000

export class DefinitionReader {
  readonly #codec: Codec<JobDefinition, JobDefinitionInput>
  #template: { job: Job; definition: JobDefinition } | undefined

  constructor(codec: Codec<JobDefinition, JobDefinitionInput>) {
    this.#codec = codec
  }

  /** `definition` is valid until the next call. Throws DuelogError `bad-definition` or `bad-job-id` with every problem, `encode-failed`, or `payload-too-large`. */
  read(job: Job): { id: string; value: Buffer; definition: JobDefinition } {
    if (!this.#readAlike(job)) this.#readInFull(job)
    const { definition } = this.#template as { definition: JobDefinition }
    const value = this.#codec.encode(definition)
    if (value.length > recordBytesMax) {
      throw new DuelogError('payload-too-large', `Job ${job.id} has ${value.length} bytes; the most is ${recordBytesMax}.`)
    }
    return { id: job.id, value, definition }
  }

  #readInFull(job: Job): void {
    const read = definitionFromJson(withoutDates(job), { idRequired: true })
    if (!read.ok) throw refusal(read.problems)
    this.#template = { job: shallowCopy(job), definition: read.definition }
  }

  /** Writes id, time and payload of a job like the last one into the template's definition. False: read it in full. */
  #readAlike(job: Job): boolean {
    if (this.#template === undefined || typeof job !== 'object' || job === null) return false
    const { job: known, definition } = this.#template
    // Bytes and a payload exclude each other: only the full check sees both.
    if (job.payloadBase64 !== undefined && job.payloadBase64 !== null) return false
    if (!alike(job, known) || typeof job.id !== 'string' || validateJobId(job.id) !== undefined) return false
    const { at: time, delayMs } = job.schedule ?? {}
    const at = typeof time === 'string' ? parseIsoTime(time) : time instanceof Date ? time.getTime() : time
    if (definition.schedule.at !== null) {
      // The instant matters only with a window.
      if (definition.startAt !== null || definition.endAt !== null) return false
      if (!isWhole(at, atMsMax)) return false
    } else if (definition.schedule.delayMs !== null) {
      if (!isWhole(delayMs, delayMsMax)) return false
    } else return false
    const payload = payloadAlike(job, definition)
    if (payload === undefined) return false
    definition.schedule.at = definition.schedule.at === null ? null : (at as number)
    definition.schedule.delayMs = definition.schedule.delayMs === null ? null : (delayMs as number)
    definition.payload = payload
    return true
  }
}

/** Names of the fields that take a Date. */
const timesOfJob = ['startAt', 'endAt', 'expireAt'] as const
const timesOfSchedule = ['at', 'anchor', 'dtstart'] as const

/** The same job with epoch ms in place of each Date. An invalid Date becomes NaN, which is refused with its field. */
function withoutDates(job: Job): unknown {
  if (!isPlain(job)) return job
  const schedule: unknown = job.schedule
  if (!isPlain(schedule)) return { ...(job as object), ...msOf(job, timesOfJob) }
  const exdates = Array.isArray(schedule.exdates) ? { exdates: schedule.exdates.map(timeMs) } : {}
  return { ...job, ...msOf(job, timesOfJob), schedule: { ...schedule, ...msOf(schedule, timesOfSchedule), ...exdates } }
}

function msOf(record: Record<string, unknown>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (record[name] instanceof Date ? [[name, timeMs(record[name])]] : [])))
}

const timeMs = (time: unknown): unknown => (time instanceof Date ? time.getTime() : time)

/** Whether all fields are the same, and all values except id, payload and the schedule's one field. */
function alike(job: Job, known: Job): boolean {
  const record = job as unknown as Record<string, unknown>
  const knownRecord = known as unknown as Record<string, unknown>
  let fields = 0
  for (const name in record) {
    fields++
    if (!(name in knownRecord)) return false
    if (name === 'id' || name === 'payload') continue
    const value = record[name]
    const other = knownRecord[name]
    if (name === 'schedule' ? !sameNames(value, other) : !sameShallow(value, other)) return false
  }
  for (const name in knownRecord) if (name !== '') fields--
  return fields === 0
}

/** Bytes of the payload; null for none; undefined if it must be read in full. */
function payloadAlike({ payload }: Job, definition: JobDefinition): Buffer | null | undefined {
  if (payload === undefined || payload === null) return definition.payload === null ? null : undefined
  if (definition.contentType === null || definition.payload === null) return undefined
  const text = isJsonType(definition.contentType) ? jsonOfValue(payload) : payload
  if (typeof text !== 'string' || !text.isWellFormed()) return undefined
  const bytes = Buffer.from(text)
  return bytes.length <= payloadBytesMax ? bytes : undefined
}

/** The template must not change with the user's objects. Only two levels are compared. */
function shallowCopy(job: Job): Job {
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(job)) {
    if (name === 'id' || name === 'payload') copy[name] = null
    else copy[name] = isPlain(value) ? { ...value } : value
  }
  return copy as unknown as Job
}

function sameNames(value: unknown, other: unknown): boolean {
  if (!isPlain(value) || !isPlain(other)) return false
  let names = 0
  for (const name in value) {
    if (!(name in other)) return false
    names++
  }
  // A schedule of one field: with more fields their values depend on each other.
  return names === 1 && Object.keys(other).length === 1
}

/** Arrays and deeper values count as different: such jobs are read in full. */
function sameShallow(value: unknown, other: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === other
  if (!isPlain(value) || !isPlain(other)) return false
  let names = 0
  for (const name in value) {
    const inner = value[name]
    if (typeof inner === 'object' && inner !== null) return false
    if (inner !== other[name] || !(name in other)) return false
    names++
  }
  for (const name in other) if (name !== '') names--
  return names === 0
}

function isPlain(value: unknown): value is Record<string, unknown> {
  const isObject = typeof value === 'object' && value !== null
  return isObject && !Array.isArray(value) && !Buffer.isBuffer(value) && !(value instanceof Date)
}

function isWhole(value: unknown, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
}

function refusal(problems: Problem[]): DuelogError {
  const ofId = problems.every((problem) => problem.field === 'id')
  const code = ofId ? 'bad-job-id' : isPayloadTooLarge(problems) ? 'payload-too-large' : 'bad-definition'
  return new DuelogError(code, problems.map((problem) => problem.message).join(' '), { cause: problems })
}
