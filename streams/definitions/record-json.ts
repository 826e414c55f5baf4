/**
 * Conversion between JSON and the records of a schema, field by field. Times (unit "epoch ms") are ISO 8601 or epoch ms, bytes are text or
 * {"base64"}, enum symbols may be in lower case. Unknown fields are refused, so that a typing error never leads to a silent default.
 */
import { isUtf8 } from 'node:buffer'
import { type AvroField, type AvroRecord, jobDefinitionSchema, type Names, type Shape, shapeOf } from '../../schemas/index.ts'
import {
  contradiction,
  isInSeconds,
  isoTime,
  notAllowed,
  type Problem,
  parseIsoTime,
  problemsMax,
  quoted,
  secondsProblem,
  suggestion,
  timeLimit,
  validText,
} from '../text/index.ts'

type Read = (json: unknown, path: string, problems: Problem[]) => unknown
type Write = (value: unknown) => unknown

export function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === 'object' && json !== null && !Array.isArray(json) && !(json instanceof Uint8Array)
}

/** A reader of JSON objects. Its result holds only known fields. It does not check limits or missing fields. */
export function recordReader(
  schema: AvroRecord,
): (json: Record<string, unknown>, problems: Problem[]) => Record<string, unknown> {
  const read = readRecord(schema, new Map())
  return (json, problems) => read(json, '', problems) as Record<string, unknown>
}

function readRecord(record: AvroRecord, names: Names): Read {
  names.set(record.name, record)
  const known = record.fields.map((field) => field.name)
  const readers = new Map(record.fields.map((field) => [field.name, readField(field, shapeOf(field.type, names), names)]))
  return (json, path, problems) => {
    if (!isObject(json)) {
      problems.push(notAllowed(path, json, 'an object'))
      return undefined
    }
    const result: Record<string, unknown> = {}
    for (const [name, given] of Object.entries(json)) {
      if (problems.length >= problemsMax) break
      const field = path === '' ? name : `${path}.${name}`
      const read = readers.get(name)
      // The Map holds only the schema's names, so __proto__ and similar names never become keys of the result.
      if (read === undefined) problems.push(unknownField(path, name, known))
      else if (given !== undefined) result[name] = read(given, field, problems)
    }
    return result
  }
}

/** `known`: the names that its object has. A slip of the pen is likelier than a name of another scheduler, if it is one character. */
export function unknownField(path: string, name: string, known: readonly string[]): Problem {
  const field = path === '' ? name : `${path}.${name}`
  const near = suggestion(name, known, 1) ?? fieldHint(name) ?? suggestion(name, known)
  const limit = known.join(', ')
  const hint = near === undefined ? `allowed: ${limit}.` : `did you mean ${near}?`
  return contradiction(quotedField(field), name, limit, `${quotedField(field)} is not a known field; ${hint}`)
}

/** A field name from the user, made safe to print. */
function quotedField(field: string): string {
  return /^[\w.-]{1,80}$/.test(field) ? field : quoted(field)
}

function readField(field: AvroField, shape: Shape, names: Names): Read {
  const read = readShape(field, shape, names)
  if (!shape.nullable) return read
  return (json, path, problems) => (json === null ? null : read(json, path, problems))
}

const asGiven: Read = (json) => json

function readShape(field: AvroField, shape: Shape, names: Names): Read {
  switch (shape.kind) {
    case 'record':
      return readRecord(shape.record, names)
    case 'long':
      return field.unit === 'epoch ms' ? readTime : asGiven
    case 'enum':
      return (json) => symbolOf(json, shape.symbols)
    case 'bytes':
      return readBytes
    case 'array': {
      const readItem = readField(field, shapeOf(shape.items, names), names)
      return (json, path, problems) =>
        Array.isArray(json) ? json.map((item, index) => readItem(item, `${path}[${index}]`, problems)) : json
    }
    case 'map':
      return mapReader(readField(field, shapeOf(shape.items, names), names))
    default:
      return asGiven
  }
}

function readTime(json: unknown, path: string, problems: Problem[]): unknown {
  if (typeof json === 'number') {
    if (isInSeconds(json)) problems.push(secondsProblem(path, json))
    return json
  }
  const ms = typeof json === 'string' ? parseIsoTime(json) : undefined
  if (ms === undefined) problems.push(notAllowed(path, json, timeLimit))
  return ms
}

/** Symbols are in upper case; lower case is accepted. The limits refuse anything else. */
function symbolOf(json: unknown, symbols: readonly string[]): unknown {
  if (typeof json !== 'string' || symbols.includes(json)) return json
  return symbols.find((symbol) => symbol === json.toUpperCase()) ?? json
}

function readBytes(json: unknown, path: string, problems: Problem[]): unknown {
  if (typeof json === 'string' && json.isWellFormed()) return Buffer.from(json)
  const bytes = isObject(json) && Object.keys(json).length === 1 ? bytesOfBase64(json.base64) : undefined
  if (bytes === undefined)
    problems.push(notAllowed(path, json, typeof json === 'string' ? validText : 'text, or {"base64"} with padding for bytes'))
  return bytes
}

export function bytesOfBase64(text: unknown): Buffer | undefined {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return undefined
  return Buffer.from(text, 'base64')
}

/** Bytes in the form that a reader accepts: text if they are valid text, else base64. */
export function textOrBase64(value: Uint8Array): string | { base64: string } {
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return isUtf8(bytes) ? bytes.toString() : { base64: bytes.toString('base64') }
}

function mapReader(readValue: Read): Read {
  return (json, path, problems) => {
    if (!isObject(json)) return json
    const result: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(json)) {
      if (problems.length >= problemsMax) break
      if (key === '__proto__') problems.push(notAllowed(path, key, 'names other than __proto__'))
      else result[key] = readValue(value, `${path}[${quoted(key)}]`, problems)
    }
    return result
  }
}

/** A writer of records as JSON. It leaves out null fields, empty arrays and empty maps. Bytes become base64. */
export function recordWriter(schema: AvroRecord): (value: unknown) => Record<string, unknown> {
  const write = writeRecord(schema, new Map())
  return (value) => write(value) as Record<string, unknown>
}

function writeRecord(record: AvroRecord, names: Names): Write {
  names.set(record.name, record)
  const writers = record.fields.map((field) => ({
    name: field.name,
    write: writeShape(field, shapeOf(field.type, names), names),
  }))
  return (value) => {
    const result: Record<string, unknown> = {}
    for (const { name, write } of writers) {
      const given = (value as Record<string, unknown>)[name]
      if (given === null || given === undefined) continue
      const json = write(given)
      if (isEmpty(json)) continue
      result[name] = json
    }
    return result
  }
}

function isEmpty(json: unknown): boolean {
  return typeof json === 'object' && json !== null && Object.keys(json).length === 0
}

function writeShape(field: AvroField, shape: Shape, names: Names): Write {
  switch (shape.kind) {
    case 'record':
      return writeRecord(shape.record, names)
    case 'long':
      return field.unit === 'epoch ms' ? (value) => isoTime(value as number) : (value) => value
    case 'bytes':
      return (value) => base64(value)
    case 'array': {
      const writeItem = writeShape(field, shapeOf(shape.items, names), names)
      return (value) => (value as unknown[]).map(writeItem)
    }
    case 'map': {
      const writeValue = writeShape(field, shapeOf(shape.items, names), names)
      return (value) => Object.fromEntries(Object.entries(value as object).map(([key, entry]) => [key, writeValue(entry)]))
    }
    default:
      return (value) => value
  }
}

function base64(value: unknown): string {
  return value instanceof Uint8Array
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')
    : String(value)
}

/** Names that other schedulers and queues have for a field. In lower case, without - and _. */
const foreignNames: Record<string, string> = {
  ...{ name: 'id', jobid: 'id' },
  ...{ tz: 'schedule.timezone', zone: 'schedule.timezone', utc: 'schedule.timezone', interval: 'schedule.everyMs' },
  ...{ every: 'schedule.everyMs', delay: 'schedule.delayMs', runat: 'schedule.at', pattern: 'schedule.cron' },
  ...{ repeat: 'schedule.everyMs', starttime: 'startAt', endtime: 'endAt' },
  ...{ data: 'payload', body: 'payload', args: 'payload', input: 'payload', task: 'target.handler', queue: 'target.pool' },
  ...{ attempts: 'retry.maxAttempts', retries: 'retry.maxAttempts', maxretries: 'retry.maxAttempts' },
  ...{
    timeout: 'attemptTimeoutMs',
    timeoutms: 'attemptTimeoutMs',
    ttl: 'startDeadlineMs',
    enabled: 'paused',
    disabled: 'paused',
  },
}

/** Fields inside others, by their names in lower case. A name that two have is left out: nothing says which is meant. */
const innerNames = innerFields(jobDefinitionSchema, '', new Map())

function innerFields(record: AvroRecord, path: string, names: Names): Map<string, string | undefined> {
  names.set(record.name, record)
  const found = new Map<string, string | undefined>()
  for (const { name, type } of record.fields) {
    const field = path === '' ? name : `${path}.${name}`
    const key = name.toLowerCase()
    if (path !== '') found.set(key, found.has(key) ? undefined : field)
    const shape = shapeOf(type, names)
    if (shape.kind !== 'record') continue
    for (const [inner, at] of innerFields(shape.record, field, names)) found.set(inner, found.has(inner) ? undefined : at)
  }
  return found
}

/** The path of the field that is probably meant, such as `retry.maxAttempts`; undefined if no name says so. */
export function fieldHint(name: string): string | undefined {
  if (name.length > 40) return undefined
  const key = name.toLowerCase().replace(/[-_]/g, '')
  return (Object.hasOwn(foreignNames, key) ? foreignNames[key] : undefined) ?? innerNames.get(key)
}
