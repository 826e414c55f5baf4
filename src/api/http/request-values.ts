/** Values of requests: job ids, definitions and times. Each is checked, and refused with everything that is wrong with it. */
import { createHash } from 'node:crypto'
import type { JobDefinition } from '../../../schemas/index.ts'
import { definitionFromJson, definitionToJson, isPayloadTooLarge, validateJobId } from '../../../streams/definitions/index.ts'
import {
  isInSeconds,
  notAllowed,
  type Problem,
  parseIsoTime,
  secondsProblem,
  timeLimit,
  writeJson,
} from '../../../streams/text/index.ts'
import { RequestError } from './problem.ts'
import { mask, redactedPlaces } from './redact.ts'

/** The id if it is valid. Throws `bad-job-id`. */
export function checkedId(id: string): string {
  const problem = validateJobId(id)
  if (problem !== undefined) throw new RequestError('bad-job-id', [problem])
  return id
}

/** `id`: from the path or from the server. Throws `bad-definition` or `payload-too-large`. */
export function definitionOf(json: unknown, id: string): JobDefinition {
  const read = definitionFromJson(json, { id })
  if (!read.ok) throw refusalOf(read.problems)
  refuseMasks(json)
  return read.definition
}

const refusalOf = (problems: Problem[]): RequestError =>
  new RequestError(isPayloadTooLarge(problems) ? 'payload-too-large' : 'bad-definition', problems)

/** Refuses a definition with masks instead of values. Throws `bad-definition`. */
export function refuseMasks(json: unknown): void {
  const limit = `values themselves, not ${mask}, which replaces values that viewers do not see`
  const problems = redactedPlaces(json as Record<string, unknown>).map((place) => notAllowed(place, mask, limit))
  if (problems.length > 0) throw new RequestError('bad-definition', problems)
}

/** A definition that carries its id. Throws `bad-definition`, `payload-too-large` or `bad-job-id`. */
export function identifiedDefinitionOf(json: unknown): { id: string; definition: JobDefinition } {
  const given = givenId(json)
  if (given !== undefined) checkedId(given)
  const read = definitionFromJson(json, { idRequired: true })
  if (!read.ok) throw refusalOf(read.problems)
  return { id: read.id ?? '', definition: read.definition }
}

/** The id in a JSON value, whatever else is wrong with it. */
export function givenId(json: unknown): string | undefined {
  const id = typeof json === 'object' && json !== null ? (json as { id?: unknown }).id : undefined
  return typeof id === 'string' ? id : undefined
}

/**
 * The id of a job that is created with an Idempotency-Key: the same for the same key, definition and caller, otherwise another
 * one. A key that is used for two definitions creates two jobs, and no caller reaches the jobs of others by their keys. The id has
 * the form of a UUID (version 8), like ids that are created without a key.
 */
export function keyedJobId(actor: string | null, key: string, definition: JobDefinition): string {
  const hash = createHash('sha256').update(writeJson([actor, key, definitionToJson(definition)]))
  const bytes = hash.digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

const timeMax = 8_640_000_000_000_000

/** Epoch ms of ISO 8601 with an offset, or of epoch ms as a number or digits. Throws `bad-request`. */
export function timeOf(field: string, given: string | number): number {
  const digits = typeof given === 'number' || /^\d{1,16}$/.test(given) ? Number(given) : undefined
  if (digits !== undefined && isInSeconds(digits)) throw new RequestError('bad-request', [secondsProblem(field, digits)])
  const ms = digits ?? parseIsoTime(String(given))
  if (ms !== undefined && Number.isInteger(ms) && ms >= 0 && ms <= timeMax) return ms
  throw new RequestError('bad-request', [notAllowed(field, given, timeLimit)])
}
