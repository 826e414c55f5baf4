/** What a request gives: its JSON, ids, definitions, conditions, times, its caller, and the signal that the caller has gone. */
import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { JobDefinition } from '../../../../schemas/index.ts'
import { definitionFromJson, definitionToJson, isPayloadTooLarge, validateJobId } from '../../../../streams/definitions/index.ts'
import {
  isInSeconds,
  notAllowed,
  type Problem,
  parseIsoTime,
  readJson,
  secondsProblem,
  timeLimit,
  writeJson,
} from '../../../../streams/text/index.ts'
import type { Clock } from '../../../ground/clock/index.ts'
import { FairSlots, LoopTurns } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Asker } from '../../../ground/ports/index.ts'
import { callerGone, RequestError } from './problem.ts'
import { mask, redactedPlaces } from './redact.ts'
import { etagOf } from './views.ts'

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

/** Aborted when the connection closes before the answer is complete. */
export function disconnectSignal({ raw }: FastifyReply): AbortSignal {
  const disconnected = new AbortController()
  const onClose = (): void => {
    if (!raw.writableFinished) disconnected.abort(new DuelogError('bad-request', callerGone))
  }
  if (raw.closed) onClose()
  else raw.once('close', onClose)
  return disconnected.signal
}

/** The caller, and the signal of its disconnect. */
export const askerOf = ({ actor, ip }: FastifyRequest, reply: FastifyReply): Asker => ({
  caller: actor ?? ip,
  signal: disconnectSignal(reply),
})

/**
 * Runs `make` with a signal for its requests to owners. The signal is aborted when `make` settles or the caller has disconnected.
 */
export async function whileAsked<Answer>(
  request: FastifyRequest,
  reply: FastifyReply,
  make: (asker: Asker) => Promise<Answer>,
): Promise<Answer> {
  const ended = new AbortController()
  try {
    const { caller, signal } = askerOf(request, reply)
    return await make({ caller, signal: AbortSignal.any([...(signal ? [signal] : []), ended.signal]) })
  } finally {
    ended.abort()
  }
}

/** Fastify's own parser, which refuses __proto__ and constructor.prototype at any depth. */
export type JsonParser = (text: string, done: (error: Error | null, value?: unknown) => void) => void

export type JsonReader = (bytes: Buffer) => unknown

/** Undefined for an empty body: some clients send a media type without a body. A payload keeps its text. Throws `bad-request`. */
export function jsonReader(parse: JsonParser): JsonReader {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  const parsed = (text: string): unknown => {
    let value: unknown
    parse(text, (error, found) => {
      if (error !== null) throw new DuelogError('bad-request', `The JSON cannot be read: ${reasonOf(text)}.`, { cause: error })
      value = found
    })
    return value
  }
  return (bytes) => {
    if (bytes.length === 0) return undefined
    let text: string
    try {
      text = utf8.decode(bytes)
    } catch (error) {
      throw new DuelogError('bad-request', 'The JSON is not valid UTF-8.', { cause: error })
    }
    const { value, problems } = readJson(text, parsed, true)
    if (problems.length > 0) throw new RequestError('bad-request', problems)
    return value
  }
}

/** Fastify's error has no place; the error of the engine has it. */
function reasonOf(text: string): string {
  try {
    JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'it has a property __proto__ or constructor.prototype, which is not allowed at any depth'
}

/**
 * Turns for reading definitions that will be written. The rule of one takes up to 40 ms to check, a batch has any number of them, and other
 * callers of this process want answers within a second. So one definition is read at a time, callers take turns, and so does other work.
 */

export class ReadingTurns {
  readonly #slots: FairSlots
  readonly #turns = new LoopTurns()

  constructor(clock: Pick<Clock, 'nowMs' | 'at'>) {
    this.#slots = new FairSlots({ what: 'definitions to be read', places: 1, clock })
  }

  /** Returns the result of `read`, or throws its error. Rejects as FairSlots#run does. */
  run<Result>(read: () => Result, asker?: Asker): Promise<Result> {
    return this.#slots.run(async () => {
      await this.#turns.next()
      return read()
    }, asker)
  }
}

export interface Version {
  partition: number
  offset: number
}

/** The condition of a write: any version, no version, or one of these entity tags. */
export type Condition = ExistingCondition | 'none'
/** The condition of If-Match: the job exists, with any version or one of these. */
export type ExistingCondition = 'any' | readonly string[]

/**
 * The condition of If-Match or If-None-Match. Undefined without both. Throws `bad-request` for a value that does not have the form of
 * RFC 9110, and for both at once.
 */
export function conditionOf(headers: {
  'if-match'?: string | undefined
  'if-none-match'?: string | undefined
}): Condition | undefined {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers
  if (noneMatch === undefined) return parseIfMatch(match)
  if (match !== undefined) throw new DuelogError('bad-request', 'If-Match and If-None-Match exclude each other. Use one of them.')
  if (noneMatch.trim() === '*') return 'none'
  throw new DuelogError(
    'bad-request',
    `If-None-Match is ${JSON.stringify(noneMatch.slice(0, 80))}. Use *: the job is written only if it does not exist.`,
  )
}

/** Undefined without the header. Throws `bad-request` for a value that does not have the form of RFC 9110. */
export function parseIfMatch(header: string | undefined): ExistingCondition | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (text === '*') return 'any'
  const tags: string[] = []
  for (const part of text.split(',')) {
    const match = /^\s*(W\/)?("[^"]*")\s*$/.exec(part)
    if (match === null) {
      throw new DuelogError(
        'bad-request',
        `If-Match is ${JSON.stringify(text.slice(0, 80))}. Use * or the ETag of the job with its quotes, such as "0.12".`,
      )
    }
    // A weak tag never matches under strong comparison.
    if (match[1] === undefined && match[2] !== undefined) tags.push(match[2])
  }
  return tags
}

/** Throws `version-conflict` if the job does not satisfy the condition. */
export function checkCondition(id: string, condition: Condition | undefined, current: Version | undefined): void {
  if (condition === undefined) return
  const tag = current === undefined ? undefined : etagOf(current)
  if (condition === 'none') {
    if (tag === undefined) return
    throw new DuelogError(
      'version-conflict',
      `Job ${JSON.stringify(id)} exists already, with the version ${tag}, and If-None-Match: * allows only a new job. Nothing was changed.`,
    )
  }
  if (tag !== undefined && (condition === 'any' || condition.includes(tag))) return
  const found = tag === undefined ? 'does not exist' : `has the version ${tag}`
  throw new DuelogError(
    'version-conflict',
    `Job ${JSON.stringify(id)} ${found}, which does not match If-Match. It was changed or deleted meanwhile. Read it again and repeat the change.`,
  )
}
