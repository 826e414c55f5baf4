/**
 * src/ground/answers: the types of what the HTTP API takes and answers (answers.ts), and its routes with a typed call for each (api.ts). oazapfts
 * makes a whole client of the description; only its types are kept, because its functions lose the digits of numbers that JavaScript cannot
 * hold (ADR 0122). (openapi-typescript needs an older TypeScript than ours.)
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateSource } from 'oazapfts'
import { numberText } from './markdown.ts'
import { openApiDocument } from './openapi.ts'

/** The parts of a description that are read here. */
interface Schema {
  $ref?: string
  type?: string
  enum?: readonly string[]
  properties?: Record<string, Schema>
  description?: string
  default?: unknown
  'x-default'?: unknown
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  maxProperties?: number
}
interface Contents {
  content?: Record<string, { schema: Schema }>
}
interface Operation {
  operationId: string
  summary: string
  parameters?: { name: string; in: 'path' | 'query' | 'header'; required: boolean; description?: string; schema: Schema }[]
  requestBody?: Contents & { required?: boolean }
  responses: Record<string, Contents>
}

const head =
  'Made by docs/generate.ts from the OpenAPI document: change the schemas in src/server/api/schemas, then run `npm run generate`.'

/** What a field means, with its limits and its default, in the words of all options. */
function meaningOf(schema: Schema, description = schema.description): string {
  const { minimum, maximum, minLength = 0, maxLength, maxItems = schema.maxProperties } = schema
  const range =
    minimum === undefined
      ? undefined
      : `${numberText(minimum)}${maximum === undefined ? ' or more' : ` to ${numberText(maximum)}`}`
  const limits = [
    ...(range === undefined || maximum === Number.MAX_SAFE_INTEGER ? [] : [range]),
    ...(maxLength === undefined ? [] : [`${minLength} to ${numberText(maxLength)} characters`]),
    ...(maxItems === undefined ? [] : [`at most ${maxItems}`]),
  ]
  const value = 'x-default' in schema ? schema['x-default'] : schema.default
  const shown =
    value === null
      ? 'none'
      : typeof value === 'number'
        ? numberText(value)
        : typeof value === 'string'
          ? value
          : typeof value === 'boolean'
            ? String(value)
            : `\`${JSON.stringify(value)}\``
  return [
    ...(description === undefined ? [] : [description]),
    ...(limits.length === 0 ? [] : [`Allowed: ${limits.join(', ')}.`]),
    ...(value === undefined ? [] : [`Default: ${shown}.`]),
  ].join(' ')
}

/** Definitions of jobs, whose fields programs write, with their limits and defaults. */
const written = ['JobDefinition', 'Retry', 'RateLimit', 'FixedBackoff', 'LinearBackoff', 'ExponentialBackoff', 'PlanRequest']

function withMeanings(schemas: Record<string, Schema>): Record<string, Schema> {
  const told = ({ properties = {}, ...schema }: Schema): Schema => ({
    ...schema,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, field]) => [name, { ...field, description: meaningOf(field) }]),
    ),
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, written.includes(name) ? told(schema) : schema]),
  )
}

/** oazapfts writes only types that a JSON answer uses. The data of an event is none, so it is put in the place of one. */
function described(): object {
  const events = openApiDocument.paths['/v1/events']?.get as { responses: object }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/StatsMessage' } } }
  const get = { ...events, responses: { 200: { description: 'Events', content } } }
  const schemas = withMeanings(openApiDocument.components.schemas as Record<string, Schema>)
  const { components, paths } = openApiDocument
  return { ...openApiDocument, components: { ...components, schemas }, paths: { ...paths, '/v1/events': { get } } }
}

async function clientSource(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'duelog-openapi-'))
  try {
    const path = join(folder, 'openapi.json')
    writeFileSync(path, JSON.stringify(described()))
    return await generateSource(path)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const source = await clientSource()

export function answerTypes(): string {
  // Each type ends with "};" or on its own line; the functions of the client begin after the last one.
  const types = source.match(/^export type [\s\S]*?;$(?=\n(?:export|\/\*\*))/gm) ?? []
  if (types.length === 0) throw new Error('oazapfts made no types; has the form of its output changed?')
  const text = types.map((type) => type.replace(/;$/gm, '').replaceAll('    ', '  ').replaceAll('"', "'")).join('\n\n')
  return `// ${head}\n\n${text}\n`
}

const json = 'application/json'
const nameOf = ({ $ref = '' }: Schema): string => $ref.replace('#/components/schemas/', '')

/** Of a parameter or an answer. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return nameOf(schema)
  if (schema.enum !== undefined) return schema.enum.map((value) => `'${value}'`).join(' | ')
  return { integer: 'number', object: 'object' }[schema.type ?? ''] ?? schema.type ?? 'unknown'
}

const camelCase = (name: string): string => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

interface CallField {
  name: string
  type: string
  required: boolean
  /** Of a field of the query, which chooses; empty: none. */
  comment: string
}

/** The fields of what a call is given. A body without fields says nothing. */
function fieldsOf({ parameters = [], requestBody }: Operation): CallField[] {
  const fields = parameters.map(
    ({ name, in: place, required, description, schema }): CallField => ({
      ...{ name: camelCase(name), type: typeOf(schema), required },
      comment: place === 'query' ? meaningOf(schema, description) : '',
    }),
  )
  const body = requestBody?.content?.[json]?.schema
  if (body !== undefined && (body.$ref !== undefined || Object.keys(body.properties ?? {}).length > 0))
    fields.push({ name: 'body', type: nameOf(body), required: requestBody?.required ?? false, comment: '' })
  else if (requestBody !== undefined && body === undefined)
    fields.push({ name: 'body', type: 'Lines', required: true, comment: '' })
  const names = fields.map(({ name }) => name)
  if (new Set([...names, 'signal']).size !== names.length + 1) throw new Error(`Two fields of a call are ${names}.`)
  return fields
}

/** Undefined: the answer is no JSON. */
function answersOf({ responses }: Operation): string | undefined {
  const done = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  if (done.some(([, { content }]) => content !== undefined && content[json] === undefined)) return undefined
  return [
    ...new Set(done.map(([, { content }]) => (content === undefined ? 'undefined' : typeOf(content[json]?.schema ?? {})))),
  ].join(' | ')
}

function signatureOf(found: Operation): string {
  const fields = fieldsOf(found)
  const mark = fields.some(({ required }) => required) ? '' : '?'
  const texts = fields.map(
    ({ name, type, required, comment }) => `${comment === '' ? '' : `/** ${comment} */ `}${name}${required ? '' : '?'}: ${type}`,
  )
  const given = texts.length === 0 ? 'Call' : `Call & { ${texts.join('; ')} }`
  return `  ${found.operationId}(given${mark}: ${given}): Promise<${answersOf(found) ?? 'ReadableStream<Uint8Array>'}>`
}

const operations = Object.entries(openApiDocument.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, found]) => ({ method, path, found: found as unknown as Operation })),
)

/** The fields of the call of this name. */
export const callFieldsOf = (name: string): CallField[] =>
  operations.flatMap(({ found }) => (found.operationId === name ? fieldsOf(found) : []))

export function apiCalls(): string {
  const routes = operations.map(({ method, path, found }) => {
    const form = answersOf(found) === undefined ? `, 'stream'` : ''
    return `  ${found.operationId}: ['${method.toUpperCase()}', '${path}'${form}],\n`
  })
  const headers = operations.flatMap(({ found }) => (found.parameters ?? []).filter((each) => each.in === 'header'))
  const headerNames = [...new Set(headers.map(({ name }) => `  ${camelCase(name)}: '${name}',\n`))]
  const signatures = operations.map(({ found }) => signatureOf(found))
  const types = new Set(
    signatures
      .join('\n')
      .replace(/\/\*.*?\*\//g, '')
      .match(/\b[A-Z]\w+/g),
  )
  const named = [...types].filter((name) => name in openApiDocument.components.schemas).sort()
  const calls = operations.map(({ found }, at) => `  /** ${found.summary}. */\n${signatures[at]}\n`)
  return `// ${head}
import type { ${named.join(', ')} } from './answers.ts'

/** Method and path of each operation. \`stream\`: its answer is read while it comes. */
export const routes = {
${routes.join('')}} as const

/** Headers by what calls name them. */
export const headerNames: Record<string, string> = {
${headerNames.join('')}}

/** What any call may be given. */
export interface Call {
  /** Ends the request. The call rejects with its reason. */
  signal?: AbortSignal | undefined
}

/** A body of lines. It is read as fast as it is sent. */
export type Lines = AsyncIterable<string>

/** A call for each operation of the API: parameters and body in, the JSON of the answer out. */
export interface Api {
${calls.join('')}}
`
}
