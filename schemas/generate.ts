/**
 * Writes schemas/generated.ts from schemas/*.avsc: one TypeScript type for each record and enum, and the schemas
 * themselves as constants, so that rooms that may not touch the disk can read units, defaults and limits. And schemas/texts.ts:
 * the files as they are, byte for byte, which is what is registered.
 *
 * Run it with `npm run generate`; a test fails when its output and the committed file differ.
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
    const constant = file.replace('.avsc', '').replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
    constants.push(`export const ${constant}Schema = ${JSON.stringify(schema, null, 2)} as const\n`)
  }
  return `// Made by schemas/generate.ts from schemas/*.avsc: change those, then run \`npm run generate\`.\n\n${[...declarations.values()].join('\n')}\n${constants.join('\n')}`
}

/** The text of texts.ts. */
export function generateTexts(): string {
  const texts = readdirSync(folder)
    .filter((name) => name.endsWith('.avsc'))
    .sort()
    .map((file) => `  '${file.replace('.avsc', '')}': ${JSON.stringify(readFileSync(join(folder, file), 'utf8'))},\n`)
  return `// Made by schemas/generate.ts from schemas/*.avsc: change those, then run \`npm run generate\`.\n\n/** The .avsc files byte for byte, as they are registered. */\nexport const schemaTexts = {\n${texts.join('')}} as const\n`
}

const bracket = (name: string): string => (name.includes(' ') ? `(${name})` : name)

if (import.meta.main) {
  writeFileSync(join(folder, 'generated.ts'), generate())
  writeFileSync(join(folder, 'texts.ts'), generateTexts())
}
