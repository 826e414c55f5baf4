/**
 * The checks of requests by the schemas of their routes. A request that does not fit gets every fault in the words of a job's problems:
 * field, value, what is allowed. The search for all faults is bounded: a large body gets its first fault only.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { notAllowed, type Problem, problemsMax, quoted, suggestion } from '../../../../streams/text/index.ts'

export type RequestCheck = ((value: unknown) => boolean) & { errors?: ErrorObject[] | null }

/** Characters of a wrong value that an answer shows. */
const shownCharsMax = 200
/** Values in a request up to which all its faults are searched. */
const searchedValuesMax = 2_000

/** The schemas are those of this program, which a test checks. Each start would compile the schema of all schemas for that. */
const trusted = { meta: false, validateSchema: false, strictTuples: false } as const

/** Requests are checked as sent: nothing in a body is converted, and nothing unknown is dropped. */
const ajvOf = (part: string | undefined, allErrors: boolean): Ajv =>
  // Paths and queries are text, so numbers must be converted.
  new Ajv({ ...trusted, useDefaults: true, allowUnionTypes: true, verbose: true, allErrors, coerceTypes: part !== 'body' })

/** Of all servers of this process: what one has compiled the next one finds, because most routes have the same schema in each. */
const known = new Map<string, Ajv>()

/**
 * Makes the checks of one server. `eager`: they are compiled before the first request. Without the role api most of them are never
 * needed.
 */
export function requestChecks(eager: boolean): (schema: object, part: string | undefined) => RequestCheck {
  const compiled = (schema: object, part: string | undefined, allErrors: boolean): ValidateFunction => {
    const key = `${part === 'body'} ${allErrors}`
    const ajv = known.get(key) ?? ajvOf(part, allErrors)
    known.set(key, ajv)
    return ajv.compile(schema)
  }
  return (schema, part) => {
    let first = eager ? compiled(schema, part, false) : undefined
    let all: ValidateFunction | undefined
    const check: RequestCheck = (value) => {
      first ??= compiled(schema, part, false)
      if (first(value)) return true
      check.errors = first.errors
      if (valuesIn(value, searchedValuesMax) > searchedValuesMax) return false
      all ??= compiled(schema, part, true)
      if (!all(value)) check.errors = all.errors
      return false
    }
    return check
  }
}

/** Values inside of a value, counted up to a limit. */
function valuesIn(value: unknown, max: number): number {
  let count = 0
  const open = [value]
  for (let next = open.pop(); open.length > 0 || next !== undefined; next = open.pop()) {
    if (++count > max) return count
    if (typeof next !== 'object' || next === null) continue
    for (const inner of Object.values(next)) {
      if (open.length > max) return max + 1
      open.push(inner)
    }
  }
  return count
}

/** The faults that Ajv found, each once. */
export function problemsOf(errors: readonly ErrorObject[]): Problem[] {
  const branched = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
  // The faults of the branches contradict each other.
  const told = errors.filter((error) => !branched.some((whole) => error.schemaPath.startsWith(`${whole.schemaPath}/`)))
  const problems = told.slice(0, problemsMax).map(problemOfError)
  return problems.filter(({ message }, index) => problems.findIndex((other) => other.message === message) === index)
}

interface Known {
  type?: string | string[]
  properties?: Record<string, unknown>
  enum?: unknown[]
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  minItems?: number
  maxItems?: number
  pattern?: string
  description?: string
}

function problemOfError({ instancePath, keyword, params, parentSchema, data, message }: ErrorObject): Problem {
  const schema = (parentSchema ?? {}) as Known
  const place = fieldOf(instancePath)
  if (keyword === 'additionalProperties') {
    const name = String((params as { additionalProperty: string }).additionalProperty)
    return unknown(place, name, Object.keys(schema.properties ?? {}))
  }
  if (keyword === 'required') {
    const field = joined(place, String((params as { missingProperty: string }).missingProperty))
    return { field, value: undefined, limit: 'required', message: `${field} is missing; it is required.` }
  }
  if (place === 'idempotency-key') {
    const limit = '1 to 255 visible ASCII characters'
    return { field: place, value: undefined, limit, message: `Idempotency-Key is not valid; allowed: ${limit}.` }
  }
  // A long value is not sent back.
  const shown = typeof data === 'string' && data.length > shownCharsMax ? `${data.slice(0, shownCharsMax)}…` : data
  return notAllowed(place, shown, limitOf(keyword, schema) ?? message ?? 'another value')
}

function limitOf(keyword: string, schema: Known): string | undefined {
  const { minimum, maximum, minLength = 0, maxLength, minItems = 0, maxItems, pattern, type } = schema
  switch (keyword) {
    case 'enum':
      return schema.enum?.map(String).join(', ')
    case 'minLength':
    case 'maxLength':
      return maxLength === undefined ? `at least ${minLength} characters` : `${minLength} to ${maxLength} characters`
    case 'minItems':
    case 'maxItems':
      return maxItems === undefined ? `at least ${minItems} entries` : `${minItems} to ${maxItems} entries`
    case 'pattern':
      return schema.description ?? pattern
    case 'type':
    case 'minimum':
    case 'maximum': {
      const kind = [type].flat().join(' or ')
      if (minimum === undefined && maximum === undefined) return kind === '' ? undefined : `a value of type ${kind}`
      return `${type === 'integer' ? 'whole numbers, ' : ''}${minimum ?? 'any'} to ${maximum ?? 'any'}`
    }
    case 'anyOf':
    case 'oneOf':
      return schema.description
  }
  return undefined
}

function unknown(place: string, name: string, names: readonly string[]): Problem {
  const field = joined(place, /^[\w.-]{1,80}$/.test(name) ? name : quoted(name))
  const near = suggestion(name, names)
  const limit = names.length === 0 ? 'none' : names.join(', ')
  const hint = near === undefined ? `allowed: ${limit}.` : `did you mean ${near}?`
  return { field, value: name.slice(0, 80), limit, message: `${field} is not known; ${hint}` }
}

const joined = (place: string, name: string): string => (place === '' ? name : `${place}.${name}`)

/** `/jobs/3/id` → `jobs[3].id`. */
function fieldOf(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : joined(path, part)), '')
}
