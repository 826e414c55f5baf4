/** Validation of a job: its id, and its definition by the limits of the schema and the rules between fields. */
import { isUtf8 } from 'node:buffer'
import {
  type AvroField,
  type AvroRecord,
  type JobCommand,
  type JobDefinition,
  jobCommandSchema,
  jobDefinitionSchema,
  type Names,
  type Shape,
  shapeOf,
} from '../../schemas/index.ts'
import { contradiction, controls, notAllowed, type Problem, problemsMax, quoted, validText } from '../text/index.ts'
import { addRuleProblems } from './cross-field-rules.ts'

export type { Problem } from '../text/index.ts'

/** Adds the problems of a value. `path` is called only for a wrong value. */
type Check = (value: unknown, path: string, problems: Problem[]) => void

/**
 * Returns a function that finds the problems of a decoded value. It never throws for a value that Avro or JSON can decode to.
 *
 * It is compiled once from the limits of a schema's fields; limits are defined nowhere else. A field may carry minimum, maximum, minLength,
 * maxLength, pattern, maxBytes and maxEntries. On an array, maxEntries counts its items and the other attributes hold for each item. On a
 * map, maxEntries counts its keys and maxBytes holds for keys and values together. Lengths count UTF-16 code units.
 */
export function limitChecker(schema: AvroRecord): (value: unknown) => Problem[] {
  const check = recordCheck(schema, new Map())
  return (value) => {
    const problems: Problem[] = []
    check(value, '', problems)
    if (problems.length > problemsMax) problems.length = problemsMax
    return problems
  }
}

function recordCheck(record: AvroRecord, names: Names): Check {
  names.set(record.name, record)
  const checks = record.fields.map((field) => {
    const check = fieldCheck(field, shapeOf(field.type, names), names)
    return { name: field.name, check, sound: soundDefault(field, check) }
  })
  return (value, path, problems) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) {
      problems.push(notAllowed(path, value, 'an object'))
      return
    }
    for (const entry of checks) {
      const found = (value as Record<string, unknown>)[entry.name]
      if (found === entry.sound) continue
      const before = problems.length
      entry.check(found, path === '' ? entry.name : `${path}.${entry.name}`, problems)
      if (problems.length === before && isConstant(found)) entry.sound = found
    }
  }
}

/** The default of a field, which needs no check: most fields of most records have their default. */
function soundDefault({ default: fallback }: AvroField, check: Check): unknown {
  const problems: Problem[] = []
  if (fallback !== undefined) check(fallback, '', problems)
  // A function is never a value of a record, so it equals no value.
  return fallback === undefined || problems.length > 0 ? soundDefault : fallback
}

/** Whether a value is immutable, so that one successful check is enough. */
function isConstant(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !Object.isFrozen(value)) return false
  return Object.values(value).every((inner) => typeof inner !== 'object' || inner === null || isConstant(inner))
}

function fieldCheck(field: AvroField, shape: Shape, names: Names): Check {
  const check = valueCheck(field, shape, names)
  if (!shape.nullable) return check
  return (value, path, problems) => {
    if (value !== null) check(value, path, problems)
  }
}

function valueCheck(field: AvroField, shape: Shape, names: Names): Check {
  switch (shape.kind) {
    case 'int':
      return numberCheck(field, -(2 ** 31), 2 ** 31 - 1, true)
    case 'long':
      return numberCheck(field, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, true)
    case 'double':
      return numberCheck(field, -Number.MAX_VALUE, Number.MAX_VALUE, false)
    case 'string':
      return stringCheck(field)
    case 'bytes':
      return bytesCheck(field)
    case 'boolean':
      return (value, path, problems) => {
        if (typeof value !== 'boolean') problems.push(notAllowed(path, value, 'true or false'))
      }
    case 'enum': {
      const { symbols } = shape
      return (value, path, problems) => {
        if (typeof value !== 'string' || !symbols.includes(value)) problems.push(notAllowed(path, value, symbols.join(', ')))
      }
    }
    case 'record':
      return recordCheck(shape.record, names)
    case 'array':
      return arrayCheck(field, shapeOf(shape.items, names), names)
    case 'map':
      return mapCheck(field, shapeOf(shape.items, names), names)
  }
}

function numberCheck(field: AvroField, typeMin: number, typeMax: number, whole: boolean): Check {
  const minimum = field.minimum ?? typeMin
  const maximum = field.maximum ?? typeMax
  const limit = `${minimum} to ${maximum}${field.unit ? ` ${field.unit}` : ''}`
  return (value, path, problems) => {
    if (typeof value === 'number' && value >= minimum && value <= maximum && (!whole || Number.isInteger(value))) return
    if (typeof value === 'string') {
      problems.push({
        field: path,
        value,
        limit,
        message: `${path} is ${quoted(value)}, text instead of a number; allowed: ${limit}.`,
      })
      return
    }
    const fraction = whole && typeof value === 'number' && value >= minimum && value <= maximum
    problems.push(notAllowed(path, value, fraction ? `whole numbers, ${limit}` : limit, field.unit))
  }
}

function stringCheck({ minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern }: AvroField): Check {
  const matcher = pattern === undefined ? undefined : new RegExp(pattern)
  const lengths = maxLength === Number.POSITIVE_INFINITY ? `at least ${minLength}` : `${minLength} to ${maxLength}`
  return (value, path, problems) => {
    if (typeof value !== 'string') {
      problems.push(notAllowed(path, value, 'text'))
    } else if (value.length < minLength || value.length > maxLength) {
      const limit = `${lengths} characters`
      problems.push({
        field: path,
        value: value.length,
        limit,
        message: `${path} has ${value.length} characters; allowed: ${limit}.`,
      })
    } else if (matcher !== undefined && !matcher.test(value)) {
      problems.push(notAllowed(path, value, `text that matches ${pattern}`))
    } else if (!value.isWellFormed()) {
      problems.push(notAllowed(path, value, validText))
    }
  }
}

function bytesCheck({ maxBytes = Number.POSITIVE_INFINITY }: AvroField): Check {
  return (value, path, problems) => {
    if (!(value instanceof Uint8Array)) problems.push(notAllowed(path, value, 'bytes'))
    else if (value.byteLength > maxBytes) problems.push(tooMany(path, value.byteLength, maxBytes, 'bytes'))
  }
}

function arrayCheck(field: AvroField, items: Shape, names: Names): Check {
  const { maxEntries = Number.POSITIVE_INFINITY, ...ofItems } = field
  const checkItem = fieldCheck(ofItems, items, names)
  return (value, path, problems) => {
    if (!Array.isArray(value)) {
      problems.push(notAllowed(path, value, 'an array'))
    } else if (value.length > maxEntries) {
      problems.push(tooMany(path, value.length, maxEntries, 'entries'))
    } else {
      for (let index = 0; index < value.length && problems.length < problemsMax; index++) {
        const before = problems.length
        checkItem(value[index], path, problems)
        // The index is added to the path only for a wrong item.
        if (problems.length > before) {
          problems.length = before
          checkItem(value[index], `${path}[${index}]`, problems)
        }
      }
    }
  }
}

function mapCheck(field: AvroField, values: Shape, names: Names): Check {
  const { maxEntries = Number.POSITIVE_INFINITY, maxBytes = Number.POSITIVE_INFINITY, ...ofValues } = field
  const checkValue = fieldCheck(ofValues, values, names)
  return (value, path, problems) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Uint8Array) {
      problems.push(notAllowed(path, value, 'an object'))
      return
    }
    const keys = Object.keys(value)
    if (keys.length > maxEntries) {
      problems.push(tooMany(path, keys.length, maxEntries, 'entries'))
      return
    }
    let bytes = 0
    for (const key of keys) {
      if (problems.length >= problemsMax) return
      const entry = (value as Record<string, unknown>)[key]
      if (!key.isWellFormed()) problems.push(notAllowed(path, key, validText))
      checkValue(entry, `${path}[${JSON.stringify(key)}]`, problems)
      if (maxBytes !== Number.POSITIVE_INFINITY)
        bytes += Buffer.byteLength(key) + (entry instanceof Uint8Array ? entry.byteLength : 0)
    }
    if (bytes > maxBytes) problems.push(tooMany(path, bytes, maxBytes, 'bytes'))
  }
}

/** Whether a definition is refused for the size of its payload alone. */
export const isPayloadTooLarge = (problems: readonly Problem[]): boolean =>
  problems.length > 0 && problems.every(({ field, limit }) => field === 'payload' && /^at most \d+ bytes$/.test(limit))

function tooMany(field: string, count: number, max: number, what: 'bytes' | 'entries'): Problem {
  const limit = `at most ${max} ${what}`
  return { field, value: count, limit, message: `${field} has ${count} ${what}; allowed: ${limit}.` }
}

/** Longest job id, in bytes of UTF-8. */
export const jobIdBytesMax = 255

/** The rule for job ids, in words. */
export const jobIdLimit = `1 to ${jobIdBytesMax} bytes of UTF-8 without control characters, other than "." and ".."`

/**
 * The problem of a job id, or undefined. An id has 1 to 255 bytes of valid UTF-8. It has no control characters (C0, DEL, C1), because
 * store keys end an id with a 00 byte, and because logs and URLs show ids. It is not . or .., because HTTP clients remove these from a
 * path in any encoding, so that a DELETE of such a job would delete something else.
 */
export function validateJobId(id: string | Buffer): Problem | undefined {
  const text = typeof id === 'string' ? id : id.toString('utf8', 0, jobIdBytesMax)
  const wrong = (found: string): Problem => {
    return contradiction('id', text, jobIdLimit, `The job id ${quoted(text)} ${found}; allowed: ${jobIdLimit}.`)
  }
  const bytes = typeof id === 'string' ? Buffer.byteLength(id) : id.byteLength
  if (bytes === 0) return wrong('is empty')
  if (bytes > jobIdBytesMax) return wrong(`has ${bytes} bytes`)
  if (typeof id === 'string' ? !id.isWellFormed() : !isUtf8(id)) return wrong('is not valid UTF-8')
  if (text === '.' || text === '..') return wrong('is a path of its own in a URL')
  if (controls.test(text)) return wrong('has a control character')
  return undefined
}

const definitionLimits = limitChecker(jobDefinitionSchema)

const commandLimits = limitChecker(jobCommandSchema)
/** The triggers that a sender may name. The owner knows the trigger of all other runs, and maxRuns counts by it. */
const commandTriggers: readonly string[] = ['MANUAL', 'FOLLOW_UP']

/** The problems of a job command's own fields: the limits of its schema, and triggers that only an owner may set. */
export function validateCommand(command: JobCommand): Problem[] {
  const problems = commandLimits(command)
  if (problems.length === 0 && !commandTriggers.includes(command.trigger))
    problems.push(notAllowed('trigger', command.trigger, commandTriggers.join(', ')))
  return problems
}

/** The problems of the single fields: types and limits. */
export const limitProblems = (definition: JobDefinition): Problem[] => definitionLimits(definition)

/** All problems of a definition; empty if it may be accepted. Never throws for a decoded value. */
export function validateDefinition(definition: JobDefinition): Problem[] {
  const problems = definitionLimits(definition)
  // The rules compare fields, so every field must have its own type.
  if (problems.length === 0) addRuleProblems(definition, problems)
  return problems
}
