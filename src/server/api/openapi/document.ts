/**
 * The OpenAPI 3.1 document of the registered routes, as JSON and as a page. Schemas of OpenAPI 3.1 are JSON schema, so the schemas that
 * check requests are used unchanged. A schema with a title becomes a component of that name.
 */

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { FastifyInstance, FastifySchema, RouteOptions } from 'fastify'
import pkg from '../../../../package.json' with { type: 'json' }
import { problemType } from '../http/index.ts'
import { instantSchema, openApiSchema, statsMessageSchema } from '../schemas/index.ts'
import { definitionJsonSchema } from './definition-json-schema.ts'

export type JsonSchema = Record<string, unknown>

type RouteSchema = Pick<FastifySchema, 'operationId' | 'summary' | 'description' | 'tags' | 'hide' | 'consumes' | 'produces'> & {
  params?: JsonSchema
  querystring?: JsonSchema
  headers?: JsonSchema
  body?: JsonSchema
  response?: Record<string, JsonSchema>
}

export interface OpenApiDocument {
  openapi: string
  info: { title: string; version: string; description: string; license: { name: string; identifier: string } }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, JsonSchema>>
  components: { schemas: Record<string, JsonSchema>; securitySchemes: JsonSchema }
}

const tags = [
  { name: 'Jobs', description: 'Definitions of jobs, their state, and commands to them.' },
  { name: 'Runs', description: 'Runs of jobs and their attempts.' },
  { name: 'Dead letters', description: 'Runs whose attempts were used up.' },
  { name: 'Operations', description: 'Changes of many jobs or dead runs, each as one operation in the background.' },
  { name: 'Schedules', description: 'Future times of schedules; nothing is written.' },
  { name: 'System', description: 'Owners, workers, audit trail, metrics and probes.' },
]

const meanings: Record<string, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Durable in the log; the body says whether the owner has applied it.',
  204: 'Done; there is no body.',
  default: 'The request was refused. With Retry-After it may succeed later.',
}

/** Throws when two routes share an operation id, or one that is not hidden has none. */
export function openApiDocument(routes: readonly RouteOptions[]): OpenApiDocument {
  const components = new Map<string, JsonSchema>()
  const paths: OpenApiDocument['paths'] = {}
  const known = new Set<string>()
  const refer = (schema: JsonSchema): JsonSchema => hoisted(schema, components)
  // Some routes only name these schemas or give them another description, so they are registered first.
  for (const schema of [definitionJsonSchema(), instantSchema, statsMessageSchema]) hoisted(schema, components)
  for (const route of routes) {
    const schema = (route.schema ?? {}) as RouteSchema
    if (route.method === 'HEAD' || schema.hide === true) continue
    const { operationId } = schema
    if (operationId === undefined || known.has(operationId))
      throw new Error(`The route ${String(route.method)} ${route.url} needs a unique operationId, not ${operationId}.`)
    known.add(operationId)
    const path = route.url.replace(/:(\w+)/g, '{$1}')
    paths[path] ??= {}
    paths[path][String(route.method).toLowerCase()] = operationOf(route, schema, refer)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Duelog',
      version: pkg.version,
      description: `${pkg.description} Errors are problem details (RFC 9457) with a stable \`code\`.`,
      license: { name: 'Apache License 2.0', identifier: pkg.license },
    },
    servers: [{ url: '/' }],
    tags,
    paths: withFormats(paths),
    components: {
      schemas: Object.fromEntries(withFormats([...components]).sort(([left], [right]) => (left < right ? -1 : 1))),
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token of DUELOG_API_TOKENS, or a JWT. Without either setting no token is needed, and only loopback is served.',
        },
      },
    },
  }
}

function operationOf(route: RouteOptions, schema: RouteSchema, refer: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { operationId, summary, description, tags: ofRoute, params, querystring, headers, body } = schema
  const role = route.config?.role
  const parameters = [
    ...parametersOf('path', params, refer),
    ...parametersOf('query', querystring, refer),
    ...parametersOf('header', headers, refer),
  ]
  const said = [description, role === undefined ? 'Needs no token.' : `Least role: ${role}.`]
  return {
    operationId,
    summary,
    description: said.filter(Boolean).join(' '),
    tags: ofRoute,
    security: role === undefined ? [] : [{ bearer: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...bodyOf(schema.consumes, body, refer),
    responses: responsesOf(schema, refer),
  }
}

/** Of required parameters, for pages that try requests out. */
const examples: Record<string, unknown> = { id: 'report-7', jobId: 'report-7', runNo: 1 }

function parametersOf(place: string, schema: JsonSchema | undefined, refer: (schema: JsonSchema) => JsonSchema): JsonSchema[] {
  const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Record<string, JsonSchema>; required?: string[] }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    ...(examples[name] !== undefined && { example: examples[name] }),
    ...(description !== undefined && { description }),
    required: required.includes(name),
    schema: refer(rest),
  }))
}

/** A body that may be null is optional. */
function bodyOf(
  consumes: readonly string[] = ['application/json'],
  body: JsonSchema | undefined,
  refer: (schema: JsonSchema) => JsonSchema,
): JsonSchema {
  if (body === undefined && consumes[0] === 'application/json') return {}
  const optional = Array.isArray(body?.type) && body.type.includes('null')
  // Binary, because a generated client would write the lines as one JSON string.
  const shown = body === undefined ? { type: 'string', format: 'binary' } : optional ? { ...body, type: 'object' } : body
  return { requestBody: { required: !optional, content: contentOf(consumes, refer(shown)) } }
}

function responsesOf({ response = {}, produces }: RouteSchema, refer: (schema: JsonSchema) => JsonSchema): JsonSchema {
  return Object.fromEntries(
    Object.entries(response).map(([given, schema]) => {
      // One name for all of them, because generators do not support ranges of statuses.
      const isProblem = /^[45]xx$/.test(given)
      const status = isProblem ? 'default' : given
      const description = (schema.title === undefined && schema.description) || meanings[status] || 'Done.'
      if (schema.type === 'null') return [status, { description }]
      return [status, { description, content: contentOf(isProblem ? [problemType] : produces, refer(schema)) }]
    }),
  )
}

const contentOf = (types: readonly string[] = ['application/json'], schema: JsonSchema): JsonSchema =>
  Object.fromEntries(types.map((type) => [type, { schema }]))

/** The schema with a reference in place of each part that has a title. A default, and a description that differs from the component's, stay beside it. */
function hoisted(value: JsonSchema, components: Map<string, JsonSchema>): JsonSchema {
  const { title } = value
  if (typeof title !== 'string') return walked(value, components)
  if (!components.has(title)) {
    // Set before its parts are visited, because they may refer to it.
    components.set(title, value)
    const { 'x-default': fallback, description, ...component } = walked(value, components)
    // A default, and a description beside it, belong to the field, and not to the type.
    components.set(title, fallback === undefined && description !== undefined ? { description, ...component } : component)
  }
  const { description, 'x-default': fallback } = value
  const isOwn = description !== undefined && description !== components.get(title)?.description
  const beside = { ...(isOwn && { description }), ...(fallback !== undefined && { 'x-default': fallback }) }
  return { $ref: `#/components/schemas/${title}`, ...beside }
}

function walked(value: JsonSchema, components: Map<string, JsonSchema>): JsonSchema {
  const inside = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(inside)
    return typeof part === 'object' && part !== null ? hoisted(part as JsonSchema, components) : part
  }
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [
      name,
      // A property may have the name "title".
      name === 'properties'
        ? Object.fromEntries(Object.entries(part as object).map(([key, of]) => [key, inside(of)]))
        : inside(part),
    ]),
  )
}

const int32Max = 2 ** 31 - 1

/**
 * The schema, or any part of a document, with a format at each integer: int32 if its limits fit, else int64. Generators of typed
 * clients use 32 bits for an integer without a format, which is too small for a time in ms or an offset. JSON schema has no such
 * formats, so requests are checked without them.
 */
function withFormats<Part>(part: Part): Part {
  if (Array.isArray(part)) return part.map(withFormats) as Part
  if (typeof part !== 'object' || part === null) return part
  const inside = Object.fromEntries(Object.entries(part).map(([name, value]) => [name, withFormats(value)])) as JsonSchema
  return (isInteger(inside) && inside.format === undefined ? { ...inside, format: formatOf(inside) } : inside) as Part
}

/** A property may have the name "type", and its schema is not a type name. A value that may also be text has no number format. */
function isInteger({ type }: JsonSchema): boolean {
  const types = Array.isArray(type) ? type.filter((name) => name !== 'null') : [type]
  return types.length === 1 && types[0] === 'integer'
}

function formatOf({ minimum, maximum }: JsonSchema): 'int32' | 'int64' {
  const fits = typeof minimum === 'number' && typeof maximum === 'number' && minimum >= -int32Max && maximum <= int32Max
  return fits ? 'int32' : 'int64'
}

/** Not in the description. */
const hidden = { hide: true } as const

/** Call it before any route is registered. */
export function openApiRoutes(instance: FastifyInstance): void {
  const routes: RouteOptions[] = []
  let document: OpenApiDocument | undefined
  instance.addHook('onRoute', (route) => void routes.push(route))
  instance.get('/openapi.json', { schema: openApiSchema }, async () => {
    document ??= openApiDocument(routes)
    return document
  })
  // The page names its files relative to /docs.
  instance.get('/docs/', { schema: hidden }, async (_request, reply) => reply.redirect('../docs', 308))
  for (const [url, { type, file, text }] of Object.entries(docsAssets)) {
    instance.get(url, { schema: hidden }, async (_request, reply) => {
      void reply.type(type).header('content-security-policy', docsPolicy).header('cache-control', 'no-cache')
      return text ?? readFile(bundled(file ?? ''))
    })
  }
}

export interface Asset {
  type: string
  /** Name of a file of Swagger UI, or the text itself. */
  file?: string
  text?: string
}

const require = createRequire(import.meta.url)
/** The path of a file of Swagger UI. */
export const bundled = (name: string): string => require.resolve(`@fastify/swagger-ui/static/${name}`)

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Duelog API</title>
<link rel="icon" type="image/png" href="docs/favicon.png">
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
`

const start = `SwaggerUIBundle({
  url: 'openapi.json',
  dom_id: '#page',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
  validatorUrl: null,
})
`

/** The page and its files, by path. */
export const docsAssets: Record<string, Asset> = {
  '/docs': { type: 'text/html; charset=utf-8', text: page },
  '/docs/start.js': { type: 'text/javascript; charset=utf-8', text: start },
  '/docs/swagger-ui-bundle.js': { type: 'text/javascript; charset=utf-8', file: 'swagger-ui-bundle.js' },
  '/docs/swagger-ui.css': { type: 'text/css; charset=utf-8', file: 'swagger-ui.css' },
  '/docs/favicon.png': { type: 'image/png', file: 'favicon-32x32.png' },
}

/** Swagger UI sets styles from its script and draws its icons as data. Requests go to this server alone. */
export const docsPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
