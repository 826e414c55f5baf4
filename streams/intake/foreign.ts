/**
 * Common parts of the schedules of other Kafka schedulers: a record with a time and a target, and the job it becomes. Everything
 * is a pure function of the record and its position, so a record that is translated twice gives the same definition twice.
 */
import type { JobDefinition, TopicTarget } from '../../schemas/index.ts'
import { completeDefinition, jobIdBytesMax, validateDefinition, validateJobId } from '../definitions/index.ts'

/** A record as it was read. */
export interface ForeignRecord {
  topic: string
  partition: number
  offset: number
  timestampMs: number
  key: Buffer | null
  value: Buffer | null
  headers: Readonly<Record<string, Buffer>>
}

export type Translation =
  | { kind: 'definition'; jobId: string; definition: JobDefinition }
  | { kind: 'deletion'; jobId: string }
  /** `jobId` is empty if there is none. */
  | { kind: 'refused'; jobId: string; reason: string }

export type Translate = (record: ForeignRecord) => Translation

/** Prefix of ids that are not the key itself. */
const encodedMark = 'b64:'

/**
 * The record's key if it is a valid id, else its bytes in base64url after `b64:`. Without a key, the record's position: such a
 * schedule cannot be cancelled, as in the original systems. Undefined if either is too long.
 */
export function jobIdOf({ key, topic, partition, offset }: ForeignRecord): string | undefined {
  if (key === null || key.length === 0) {
    const place = `${topic}/${partition}/${offset}`
    return place.length <= jobIdBytesMax ? place : undefined
  }
  if (validateJobId(key) === undefined) return key.toString()
  const encoded = encodedMark + key.toString('base64url')
  return encoded.length <= jobIdBytesMax ? encoded : undefined
}

/** The reason for a record without an id. */
export const noJobId =
  'The key is too long for a job id, or there is none, and the name of the topic is too long for one of the place.'

/** The end of the year 9999. A later number is most likely in milliseconds by mistake. */
const latestSeconds = 253_402_300_799

/** The instant that a header gives in seconds, or the reason why it is invalid. */
export function msOfEpochSeconds(name: string, text: Buffer | undefined): { ms: number } | { problem: string } {
  const digits = text === undefined ? undefined : /^\s*(\d{1,20})\s*$/.exec(text.subarray(0, 40).toString())?.[1]
  const seconds = Number(digits)
  if (digits === undefined) return { problem: `The header ${name} must be whole seconds since 1970.` }
  if (seconds <= latestSeconds) return { ms: seconds * 1_000 }
  return {
    problem: `The header ${name} is ${digits}, after the year 9999; it is in seconds since 1970, at most ${latestSeconds}, not in milliseconds.`,
  }
}

/**
 * A definition that sends one record to the target topic at an instant; refused if it exceeds a limit of definitions. A record whose time
 * had passed when it was written is due at once, and not at that time: a job fires once for one instant, and each record is a schedule of
 * its own, also with the key and the time of an earlier one.
 */
export function oneRecordAt(
  { timestampMs }: ForeignRecord,
  jobId: string,
  at: number,
  target: Partial<TopicTarget> & { name: string },
  payload: Buffer | null,
  headers: Record<string, Buffer>,
): Translation {
  const { name, key = null, partition = null } = target
  const schedule = at > timestampMs ? { at } : { delayMs: 0 }
  const definition = completeDefinition({ schedule, target: { topic: { name, key, partition } }, payload, headers })
  const problems = validateDefinition(definition)
  if (problems.length === 0) return { kind: 'definition', jobId, definition }
  return { kind: 'refused', jobId, reason: problems.map(({ message }) => message).join(' ') }
}

/** Headers except those with these names. */
export function headersWithout(headers: Readonly<Record<string, Buffer>>, names: ReadonlySet<string>): Record<string, Buffer> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.has(name)))
}
