/**
 * Values at and beyond every limit of a schema, made from the schema alone. This file reads the attributes itself, without
 * streams/jobs, so that the two can disagree. A new field is covered as soon as an .avsc file has it.
 */

interface Field {
  readonly name: string
  readonly type: unknown
  readonly default?: unknown
  readonly [attribute: string]: unknown
}
interface Complex {
  readonly type: string
  readonly name?: string
  readonly fields?: readonly Field[]
  readonly symbols?: readonly string[]
  readonly items?: unknown
  readonly values?: unknown
}

export interface LimitCase {
  /** The path and the attribute, such as "schedule.everyMs minimum". */
  title: string
  path: string
  passing: unknown
  failing: unknown
}

const attributes = ['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'maxBytes', 'maxEntries']

/** Every attribute of a field of the schema, at any depth. */
export function limitCases(schema: object): LimitCase[] {
  const names = namesIn(schema)
  const cases: LimitCase[] = []
  const visit = (record: Complex, path: string): void => {
    for (const field of record.fields ?? []) {
      const at = path + field.name
      const type = plain(field.type, names)
      for (const attribute of attributes) {
        if (field[attribute] === undefined) continue
        cases.push({ title: `${at} ${attribute}`, path: at, ...boundary(field, attribute, type) })
      }
      if (type.type === 'record') visit(type, `${at}.`)
    }
  }
  visit(schema as Complex, '')
  return cases
}

/** A record that is within all limits, with every nullable record in it set. */
export function sampleRecord(schema: object, names = namesIn(schema)): Record<string, unknown> {
  const sample: Record<string, unknown> = {}
  for (const field of (schema as Complex).fields ?? []) sample[field.name] = sampleOf(field, plain(field.type, names), names)
  return sample
}

function sampleOf(field: Field, type: Complex, names: Map<string, Complex>): unknown {
  switch (type.type) {
    case 'record':
      return sampleRecord(type, names)
    case 'enum':
      return type.symbols?.[0]
    case 'array':
      return []
    case 'map':
      return {}
    case 'boolean':
      return false
    case 'bytes':
      return Buffer.alloc(1)
    case 'string':
      return textOf(field, Number(field.minLength ?? 1))
    default:
      return Number(field.minimum ?? 0)
  }
}

/** The sample with one value replaced. */
export function withValue(sample: Record<string, unknown>, path: string, value: unknown): Record<string, unknown> {
  const [first = '', ...rest] = path.split('.')
  const inner = sample[first] as Record<string, unknown>
  return { ...sample, [first]: rest.length === 0 ? value : withValue(inner, rest.join('.'), value) }
}

function boundary(field: Field, attribute: string, type: Complex): { passing: unknown; failing: unknown } {
  const limit = field[attribute] as number
  const element = (type.items ?? type.values) as string | undefined
  if (attribute === 'maxEntries') {
    const many = (count: number): unknown => {
      const entries = Array.from({ length: count }, () => sampleOf(field, { type: String(element) }, new Map()))
      return type.type === 'array' ? entries : Object.fromEntries(entries.map((entry, index) => [`k${index}`, entry]))
    }
    return { passing: many(limit), failing: many(limit + 1) }
  }
  const one = (value: unknown): unknown => (type.type === 'array' ? [value] : type.type === 'map' ? { k: value } : value)
  switch (attribute) {
    case 'minimum':
      return { passing: one(limit), failing: one(limit - (type.type === 'double' ? 0.001 : 1)) }
    case 'maximum':
      return { passing: one(limit), failing: one(limit + (type.type === 'double' ? 0.001 : 1)) }
    case 'minLength':
      return { passing: one(textOf(field, limit)), failing: one(textOf({ ...field, pattern: undefined }, limit - 1)) }
    case 'maxLength':
      return { passing: one(textOf(field, limit)), failing: one(textOf(field, limit + 1)) }
    case 'pattern':
      return { passing: one(textOf(field, Math.max(1, Number(field.minLength ?? 1)))), failing: one(' \u0000 ') }
    case 'maxBytes':
      if (type.type === 'map') return { passing: { k: Buffer.alloc(limit - 1) }, failing: { k: Buffer.alloc(limit) } }
      return { passing: one(Buffer.alloc(limit)), failing: one(Buffer.alloc(limit + 1)) }
    default:
      throw new Error(`Teach this file values for ${attribute}.`)
  }
}

/** Text of a length that fits the field's pattern. */
function textOf({ name, pattern }: Field, length: number): string {
  const url = 'http://'.padEnd(length, 'a').slice(0, length)
  const candidates = [...['a', 'A', '0', '-', '_'].map((character) => character.repeat(length)), url]
  const found = candidates.find((text) => pattern === undefined || new RegExp(String(pattern)).test(text))
  if (found === undefined) throw new Error(`Teach this file a text of ${length} characters for the pattern of ${name}.`)
  return found
}

function plain(type: unknown, names: Map<string, Complex>): Complex {
  if (Array.isArray(type)) {
    return plain(
      type.find((branch) => branch !== 'null'),
      names,
    )
  }
  return typeof type === 'string' ? (names.get(type) ?? { type }) : (type as Complex)
}

/** Every named type, at the place where the schema defines it. */
function namesIn(part: unknown, names = new Map<string, Complex>()): Map<string, Complex> {
  if (typeof part !== 'object' || part === null) return names
  const { type, name } = part as Partial<Complex>
  if (name !== undefined && (type === 'record' || type === 'enum')) names.set(name, part as Complex)
  for (const inner of Object.values(part)) namesIn(inner, names)
  return names
}
