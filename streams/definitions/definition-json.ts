/**
 * Jobs in JSON, for API, CLI and files: the fields of the Avro schema and an `id`. Times are ISO 8601 with an offset or epoch ms,
 * durations are ms, header values and keys are text or {"base64"}. The payload has rules of its own, below.
 */

import { isUtf8 } from 'node:buffer'
import { type JobDefinition, type JobDefinitionInput, jobDefinitionSchema, type Target } from '../../schemas/index.ts'
import {
  contradiction,
  JsonText,
  jsonProblems,
  jsonType,
  notAllowed,
  type Problem,
  problemsMax,
  quoted,
  validText,
} from '../text/index.ts'
import { isPriorityNumber, priorityAllowed, shownPriority, wordOf } from '../topics/index.ts'
import { completeDefinition } from './defaults.ts'
import { bytesOfBase64, isObject, recordReader, recordWriter, textOrBase64, unknownField } from './record-json.ts'
import { limitProblems, validateDefinition, validateJobId } from './validate.ts'
import { addWithoutEffectProblems, fieldsWithoutEffect } from './without-effect.ts'

export { isoTime, parseIsoTime } from '../text/index.ts'
export { completeDefinition } from './defaults.ts'

export type FromJson = { ok: true; id: string | undefined; definition: JobDefinition } | { ok: false; problems: Problem[] }

export interface FromJsonOptions {
  /** Id from outside the JSON, such as the path of a request. The JSON may repeat it, but not name another. */
  id?: string
  /** Default false. True refuses a job without an id. */
  idRequired?: boolean
}

const readFields = recordReader(jobDefinitionSchema)
const writeFields = recordWriter(jobDefinitionSchema)
/** In JSON, the number of a priority is a value of `priority`. */
const inPriority = 'priorityLevel'
const fieldNames = jobDefinitionSchema.fields.map((field) => field.name as string).filter((name) => name !== inPriority)
const known = ['id', ...fieldNames, 'payloadBase64']
const knownSet = new Set(known)
const required = jobDefinitionSchema.fields.filter((field) => !('default' in field)).map((field) => field.name)

/** A complete, valid definition, or all problems of the JSON. Never throws for parsed JSON. */
export function definitionFromJson(json: unknown, options: FromJsonOptions = {}): FromJson {
  if (!isObject(json)) return { ok: false, problems: [notAllowed('', json, 'a job as a JSON object')] }
  const problems: Problem[] = []
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(json)) {
    if (problems.length >= problemsMax) break
    if (!knownSet.has(name)) problems.push(unknownField('', name, known))
    else if (value !== undefined) fields[name] = value
  }
  const id = idOf(fields.id, options, problems)
  const payload = readPayload(fields, problems)
  for (const name of ['id', 'payload', 'payloadBase64', 'contentType']) delete fields[name]
  for (const name of required) if (fields[name] === undefined) problems.push(missing(name))
  readPriority(fields, problems)
  const input = { ...readFields(fields, problems), ...payload }
  const definition = completeDefinition(input as unknown as JobDefinitionInput)
  if (problems.length > 0) return { ok: false, problems: withLimitProblems(definition, problems) }
  const refused = validateDefinition(definition)
  if (refused.length === 0) addWithoutEffectProblems(definition, refused)
  if (id !== undefined) addCycleProblems(id, definition, refused)
  return refused.length > 0 ? { ok: false, problems: refused } : { ok: true, id, definition }
}

/** A number becomes the word of its topic and the number. */
function readPriority(fields: Record<string, unknown>, problems: Problem[]): void {
  const { priority } = fields
  if (typeof priority !== 'number') return
  if (isPriorityNumber(priority)) {
    fields.priority = wordOf(priority)
    fields[inPriority] = priority
    return
  }
  problems.push(notAllowed('priority', priority, priorityAllowed))
  delete fields.priority
}

function idOf(given: unknown, { id, idRequired = false }: FromJsonOptions, problems: Problem[]): string | undefined {
  const chosen = given ?? id
  if (chosen === undefined) {
    if (idRequired) problems.push(missing('id'))
    return undefined
  }
  if (typeof chosen !== 'string') {
    problems.push(notAllowed('id', chosen, 'text'))
    return undefined
  }
  const problem = validateJobId(chosen)
  if (problem !== undefined) problems.push(problem)
  if (id !== undefined && chosen !== id) problems.push(notAllowed('id', chosen, `the id it was sent to, ${JSON.stringify(id)}`))
  return chosen
}

/** Refuses a job that follows on itself, the only cycle that one definition shows. The limits of a chain end all other cycles. */
function addCycleProblems(id: string, definition: JobDefinition, problems: Problem[]): void {
  for (const field of ['onSuccess', 'onFailure'] as const) {
    if (!definition[field].includes(id)) continue
    const limit = 'ids of other jobs; to run again and again, use schedule.everyMs with from END, or retry'
    problems.push(contradiction(field, id, limit, `${field} names the job itself; allowed: ${limit}.`))
  }
}

/**
 * A field that is unknown or cannot be read does not hide the faults of the others. The rules between fields need all of them, and are
 * applied if only unknown ones are wrong.
 */
function withLimitProblems(definition: JobDefinition, problems: Problem[]): Problem[] {
  const told = problems.map(({ field }) => field)
  const areUnknown = told.every((field) => !knownSet.has(field.split(/[.[]/)[0] ?? ''))
  const found = areUnknown ? validateDefinition(definition) : limitProblems(definition)
  const isTold = (field: string): boolean => told.some((known) => known === field || field.startsWith(`${known}.`))
  return [...problems, ...found.filter(({ field }) => !isTold(field))].slice(0, problemsMax)
}

function missing(field: string): Problem {
  return { field, value: undefined, limit: 'required', message: `${field} is missing; it is required.` }
}

/**
 * A definition in the form that definitionFromJson accepts. Times are in UTC; unset fields are left out, and so are fields without effect,
 * which records of other writers may hold.
 */
export function definitionToJson(definition: JobDefinition): Record<string, unknown> {
  const json = writeFields({ ...definition, payload: null, headers: {} })
  delete json[inPriority]
  json.priority = shownPriority(definition)
  for (const path of fieldsWithoutEffect(definition)) leaveOut(json, path.split('.'))
  const { payload: _, headers, schedule, target, ...rest } = json
  return {
    schedule: scheduleToJson(schedule as Record<string, unknown>),
    target: targetToJson(target as Record<string, unknown>, definition.target),
    ...rest,
    ...writePayload(definition),
    ...headersToJson(definition.headers),
  }
}

function leaveOut(json: Record<string, unknown>, [name = '', ...inner]: string[]): void {
  const value = json[name]
  if (inner.length === 0) delete json[name]
  else if (isObject(value)) leaveOut(value, inner)
}

/** Leaves out fields that have a default but no meaning for this kind of schedule. */
function scheduleToJson(schedule: Record<string, unknown>): Record<string, unknown> {
  const { from, timezone, dstGap, dstOverlap, ...rest } = schedule
  return {
    ...rest,
    ...(rest.everyMs === undefined ? {} : { from }),
    ...(rest.cron === undefined && rest.rrule === undefined ? {} : { timezone, dstGap, dstOverlap }),
  }
}

function targetToJson({ pool, ...rest }: Record<string, unknown>, { topic }: Target): Record<string, unknown> {
  if (topic === null) return { ...rest, pool }
  const { key, ...place } = rest.topic as Record<string, unknown>
  return { topic: { ...place, ...(topic.key === null ? {} : { key: textOrBase64(topic.key) }) } }
}

function headersToJson(headers: Record<string, Buffer>): { headers?: Record<string, string | { base64: string }> } {
  const entries = Object.entries(headers).map(([name, value]) => [name, textOrBase64(value)] as const)
  return entries.length === 0 ? {} : { headers: Object.fromEntries(entries) }
}

/**
 * Payloads in JSON. `payload` is any JSON value if the media type is JSON or absent, else text; `payloadBase64` is bytes. A JSON value
 * that JavaScript would write differently is kept as its text (JsonText).
 * Together with contentType they are converted to the definition's payload and contentType, and back.
 */

interface Payload {
  payload: Buffer | null
  contentType: string | null
}

/** application/json or a media type with the suffix +json, with or without parameters. */
export function isJsonType(contentType: string): boolean {
  return /^\s*application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(contentType)
}

/**
 * Payload and media type of a job in JSON. A null payload means no payload. `contentType` is as given, undefined when absent.
 * Text with a media type other than JSON is stored unchanged; everything else is written as JSON.
 */
export function readPayload(
  json: { payload?: unknown; payloadBase64?: unknown; contentType?: unknown },
  problems: Problem[],
): { payload: unknown; contentType: unknown } {
  const { payload = null, payloadBase64 = null, contentType = null } = json
  if (payload !== null && payloadBase64 !== null) {
    const limit = 'one of payload and payloadBase64'
    problems.push(contradiction('payloadBase64', undefined, limit, `payload and payloadBase64 are both set; allowed: ${limit}.`))
    return { payload: null, contentType }
  }
  if (payloadBase64 !== null) return { payload: bytesOf(payloadBase64, problems), contentType }
  if (payload === null) return { payload: null, contentType }
  if (typeof contentType === 'string' && !isJsonType(contentType)) {
    const text: unknown = payload instanceof JsonText ? JSON.parse(payload.text) : payload
    if (typeof text === 'string' && text.isWellFormed()) return { payload: Buffer.from(text), contentType }
    const limit = `text with the media type ${quoted(contentType)}; give payloadBase64 for bytes`
    problems.push(notAllowed('payload', payload, limit))
    return { payload: null, contentType }
  }
  return { payload: jsonBytes(payload, problems), contentType: contentType ?? jsonType }
}

function bytesOf(text: unknown, problems: Problem[]): Buffer | null {
  const bytes = bytesOfBase64(text)
  if (bytes !== undefined) return bytes
  problems.push(notAllowed('payloadBase64', text, 'base64 with padding'))
  return null
}

function jsonBytes(payload: unknown, problems: Problem[]): Buffer | null {
  if (payload instanceof JsonText) return Buffer.from(payload.text)
  const text = jsonOfValue(payload)
  if (typeof text === 'string') return Buffer.from(text)
  problems.push(notAllowed('payload', payload, text.limit))
  return null
}

/** A JavaScript value as JSON, or a problem. A value that JSON.stringify would silently write as another value is refused. */
export function jsonOfValue(value: unknown): string | { limit: string } {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // A cycle, a BigInt or a depth beyond the stack.
  }
  if (text === undefined) return { limit: 'a JSON value; a BigInt goes as text, or all as payloadBase64' }
  // JSON.stringify writes NaN and Infinity as null, and a lone surrogate as an escape that other languages refuse.
  if (text.includes('null') && hasLostNumber(value))
    return { limit: 'a JSON value; NaN and Infinity are none, wherever in it they stand' }
  if (text.includes('\\ud') && jsonProblems(text).length > 0) return { limit: validText }
  return text
}

function hasLostNumber(value: unknown): boolean {
  let lost = false
  JSON.stringify(value, (_name, inner: unknown) => {
    lost ||= typeof inner === 'number' && !Number.isFinite(inner)
    return inner
  })
  return lost
}

/** A definition's payload in the form that readPayload accepts, byte for byte. Other payloads, and bytes that are no text, become base64. */
export function writePayload({ payload, contentType }: Payload): { payload?: unknown; payloadBase64?: string } {
  if (payload === null) return {}
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  if (contentType !== null && isUtf8(bytes)) {
    const text = bytes.toString()
    if (!isJsonType(contentType)) return { payload: text }
    const value = valueOrText(text)
    if (value !== undefined && value !== null) return { payload: value }
  }
  return { payloadBase64: bytes.toString('base64') }
}

/** The value of a JSON text if JSON.stringify writes the same text, else the text; undefined if a request would be refused with it. */
export function valueOrText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (jsonProblems(text).length > 0 || value === null) return undefined
    return JSON.stringify(value) === text ? value : new JsonText(text)
  } catch {
    return undefined
  }
}
