/**
 * Writes the generated files of this folder. generated.ts, from *.avsc: one TypeScript type for each record and enum, and the schemas
 * as constants, so that rooms without access to the disk can read units, defaults and limits. texts.ts: the .avsc files byte for byte,
 * as they are registered. settings.ts, from config.json: the types of the settings.
 *
 * Run it with `npm run generate`. A test fails when its output and the committed files differ.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

interface Field {
  name: string
  type: AvroType
  doc?: string
  unit?: string
  default?: unknown
}
interface NamedType {
  type: string
  name?: string
  doc?: string
  fields?: Field[]
  symbols?: string[]
  items?: AvroType
  values?: AvroType
}
type AvroType = string | NamedType | AvroType[]

const folder = import.meta.dirname
const primitives: Record<string, string> = {
  string: 'string',
  bytes: 'Buffer',
  int: 'number',
  long: 'number',
  float: 'number',
  double: 'number',
  boolean: 'boolean',
  null: 'null',
}

/** The text of generated.ts. Throws when an .avsc file uses a shape this generator does not know. */
export function generate(): string {
  const declarations = new Map<string, string>()
  const constants: string[] = []
  const records: string[] = []
  const recordSchemas: string[] = []

  const typeName = (type: AvroType, input: boolean): string => {
    if (typeof type === 'string')
      return primitives[type] ?? `${type}${input && declarations.get(type)?.includes(`interface ${type}Input`) ? 'Input' : ''}`
    if (Array.isArray(type))
      return type
        .map((branch) => typeName(branch, input))
        .reverse()
        .join(' | ')
    switch (type.type) {
      case 'array':
        return `${bracket(typeName(type.items ?? 'null', input))}[]`
      case 'map':
        return `Record<string, ${typeName(type.values ?? 'null', input)}>`
      case 'enum':
        declare(
          type.name ?? '',
          `export type ${type.name} = ${(type.symbols ?? []).map((symbol) => `'${symbol}'`).join(' | ')}\n`,
        )
        return type.name ?? ''
      case 'record':
        declareRecord(type)
        return input ? `${type.name}Input` : (type.name ?? '')
      default:
        return primitives[type.type] ?? type.type
    }
  }

  const declare = (name: string, text: string): void => {
    const before = declarations.get(name)
    if (before !== undefined && before !== text) throw new Error(`Two schemas define ${name} differently; make them alike.`)
    declarations.set(name, text)
  }

  const declareRecord = (record: NamedType): void => {
    const name = record.name ?? ''
    const lines = [`/** ${record.doc ?? name} */`, `export interface ${name} {`]
    const inputs = [
      `/** ${name} as a writer may give it: fields with a default may be left out. */`,
      `export interface ${name}Input {`,
    ]
    for (const field of record.fields ?? []) {
      const facts = [
        field.doc ?? '',
        field.unit ? `Unit: ${field.unit}.` : '',
        'default' in field ? `Default: ${JSON.stringify(field.default)}.` : '',
      ]
      lines.push(`  /** ${facts.filter(Boolean).join(' ')} */`, `  ${field.name}: ${typeName(field.type, false)}`)
      inputs.push(
        `  ${field.name}${'default' in field ? '?' : ''}: ${typeName(field.type, true)}${'default' in field ? ' | undefined' : ''}`,
      )
    }
    declare(name, `${lines.join('\n')}\n}\n\n${inputs.join('\n')}\n}\n`)
  }

  for (const file of readdirSync(folder)
    .filter((name) => name.endsWith('.avsc'))
    .sort()) {
    const schema = JSON.parse(readFileSync(join(folder, file), 'utf8')) as NamedType
    declareRecord(schema)
    const named = file.replace('.avsc', '')
    const constant = named.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    records.push(`  '${named}': { read: ${schema.name}; written: ${schema.name}Input }\n`)
    recordSchemas.push(`  '${named}': ${constant}Schema,\n`)
    constants.push(`export const ${constant}Schema = ${JSON.stringify(schema, null, 2)} as const\n`)
  }
  return `// Made by schemas/generate.ts from schemas/*.avsc: change those, then run \`npm run generate\`.\n\n${[...declarations.values()].join('\n')}\n${constants.join('\n')}
/** By the names of the schemas: a record as it is read, and as a writer may give it. */
export interface Records {
${records.join('')}}

export const recordSchemas = {
${recordSchemas.join('')}} as const
`
}

/** The text of texts.ts. */
export function generateTexts(): string {
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.avsc'))
    .sort()
    .map((file) => `  '${file.replace('.avsc', '')}': ${JSON.stringify(readFileSync(join(folder, file), 'utf8'))},\n`)
  return `// Made by schemas/generate.ts from schemas/*.avsc: change those, then run \`npm run generate\`.\n\n/** The .avsc files byte for byte, as they are registered. */\nexport const schemaTexts = {\n${texts.join('')}} as const\n`
}

interface SettingSchema {
  type: string
  description: string
  enum?: string[]
  default?: unknown
  client?: boolean
}

/** The text of settings.ts. It leaves out settings of client commands, because a running Duelog does not read them. */
export function generateSettings(): string {
  const { properties } = JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')) as {
    properties: Record<string, SettingSchema>
  }
  const environment: string[] = []
  const values: string[] = []
  for (const [name, { type, description, enum: choices, default: byDefault, client }] of Object.entries(properties)) {
    if (client === true) continue
    const one = choices?.map((choice) => `'${choice}'`).join(' | ') ?? (type === 'integer' ? 'number' : type)
    const valueType = byDefault === undefined ? `${one} | undefined` : one
    environment.push(`  ${name}${byDefault === undefined ? '?' : ''}: ${one}\n`)
    if (name.startsWith('DUELOG_')) values.push(`  /** ${description} */\n  ${settingKey(name)}: ${valueType}\n`)
  }
  return `// Made by schemas/generate.ts from schemas/config.json: change that, then run \`npm run generate\`.

/** The environment after ajv has converted its strings and added the defaults. */
export interface Environment {
${environment.join('')}}

/** The settings whose names begin with DUELOG_, each by the rest of its name in camel case. */
export interface SettingValues {
${values.join('')}}
`
}

/** The name of a setting in code: `leadMsMax` for DUELOG_LEAD_MS_MAX. */
const settingKey = (name: string): string =>
  name
    .slice('DUELOG_'.length)
    .toLowerCase()
    .replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

const bracket = (name: string): string => (name.includes(' ') ? `(${name})` : name)

if (import.meta.main) {
  writeFileSync(join(folder, 'generated.ts'), generate())
  writeFileSync(join(folder, 'texts.ts'), generateTexts())
  writeFileSync(join(folder, 'settings.ts'), generateSettings())
}
