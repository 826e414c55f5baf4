/** The contract, the API description and the server agree. */
import SwaggerParser from '@apidevtools/swagger-parser'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { errorTable } from '../../src/ground/errors/errors.ts'
import type { OpenApiDocument } from '../../src/server/api/openapi/document.ts'
import { definitionFromJson } from '../../streams/definitions/definition-json.ts'
import { createSystem, type MemorySystem } from './system-in-memory.ts'

/** Method, path and least role of each route that users may rely on; null needs no token. */
const promised = [
  ['GET', '/v1/jobs', 'viewer'],
  ['POST', '/v1/jobs', 'operator'],
  ['POST', '/v1/jobs/batch', 'operator'],
  ['POST', '/v1/jobs/plan', 'viewer'],
  ['GET', '/v1/jobs/{id}', 'viewer'],
  ['PUT', '/v1/jobs/{id}', 'operator'],
  ['DELETE', '/v1/jobs/{id}', 'operator'],
  ['GET', '/v1/jobs/{id}/why', 'viewer'],
  ['GET', '/v1/jobs/{id}/runs', 'viewer'],
  ['GET', '/v1/jobs/{id}/result', 'viewer'],
  ['GET', '/v1/jobs/{id}/runs/{runNo}/logs', 'viewer'],
  ['POST', '/v1/jobs/{id}/pause', 'operator'],
  ['POST', '/v1/jobs/{id}/resume', 'operator'],
  ['POST', '/v1/jobs/{id}/trigger', 'operator'],
  ['POST', '/v1/jobs/{id}/cancel', 'operator'],
  ['POST', '/v1/jobs/{id}/backfill', 'operator'],
  ['POST', '/v1/jobs/{id}/skip', 'operator'],
  ['POST', '/v1/jobs/{id}/backfill/cancel', 'operator'],
  ['POST', '/v1/jobs/{id}/backfill/count', 'viewer'],
  ['GET', '/v1/runs', 'viewer'],
  ['GET', '/v1/runs/{jobId}/{runNo}', 'viewer'],
  ['POST', '/v1/runs/{jobId}/{runNo}/redrive', 'operator'],
  ['POST', '/v1/runs/{jobId}/{runNo}/retry', 'operator'],
  ['POST', '/v1/runs/{jobId}/{runNo}/cancel', 'operator'],
  ['GET', '/v1/dead-letters', 'viewer'],
  ['GET', '/v1/dead-letters/{jobId}/{runNo}', 'viewer'],
  ['POST', '/v1/operations', 'operator'],
  ['POST', '/v1/operations/count', 'viewer'],
  ['GET', '/v1/operations', 'viewer'],
  ['GET', '/v1/operations/{id}', 'viewer'],
  ['POST', '/v1/operations/{id}/cancel', 'operator'],
  ['POST', '/v1/schedules/preview', 'viewer'],
  ['GET', '/v1/forecast', 'viewer'],
  ['GET', '/v1/forecast/jobs', 'viewer'],
  ['POST', '/v1/pools/{pool}/pause', 'operator'],
  ['POST', '/v1/pools/{pool}/drain', 'operator'],
  ['POST', '/v1/pools/{pool}/resume', 'operator'],
  ['POST', '/v1/workers/{worker}/pause', 'operator'],
  ['POST', '/v1/workers/{worker}/drain', 'operator'],
  ['POST', '/v1/workers/{worker}/resume', 'operator'],
  ['GET', '/v1/pools', 'viewer'],
  ['GET', '/v1/limits', 'viewer'],
  ['GET', '/v1/workers', 'viewer'],
  ['GET', '/v1/proof', 'viewer'],
  ['POST', '/v1/proof/acknowledge', 'operator'],
  ['GET', '/v1/history', 'viewer'],
  ['GET', '/v1/history/counts', 'viewer'],
  ['GET', '/v1/history/handlers', 'viewer'],
  ['GET', '/v1/series', 'viewer'],
  ['GET', '/v1/partitions', 'viewer'],
  ['GET', '/v1/session', 'viewer'],
  ['GET', '/v1/events', 'viewer'],
  ['GET', '/v1/settings', 'viewer'],
  ['GET', '/v1/audit', 'operator'],
  ['GET', '/metrics', 'viewer'],
  ['GET', '/livez', null],
  ['GET', '/readyz', null],
  ['GET', '/openapi.json', null],
] as const

/** Every schema of the document that describes an integer. */
function integersIn(part: unknown): Record<string, unknown>[] {
  if (typeof part !== 'object' || part === null) return []
  const { type } = part as { type?: unknown }
  const isInteger = type === 'integer' || (Array.isArray(type) && type.includes('integer') && !type.includes('string'))
  return [...(isInteger ? [part as Record<string, unknown>] : []), ...Object.values(part).flatMap(integersIn)]
}

interface Operation {
  operationId: string
  summary: string
  description: string
  tags: string[]
  security: object[]
  parameters?: { name: string; in: string; required: boolean; schema: object }[]
  responses: Record<string, { description: string; content?: Record<string, { schema: { $ref?: string } }> }>
}

let system: MemorySystem
let document: OpenApiDocument
let operations: [place: string, operation: Operation][]

beforeAll(async () => {
  system = createSystem()
  document = (await system.api.instance.inject('/openapi.json')).json()
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation as unknown as Operation,
    ]),
  )
})
afterAll(() => system.api.stop())

it('has a JSON Schema for each part of a request, which no start checks', () => {
  const ajv = new Ajv({ allowUnionTypes: true })
  const parts = system.api.routes.flatMap(({ url, schema = {} }) =>
    (['body', 'params', 'querystring', 'headers'] as const).flatMap((part) =>
      schema[part] ? [{ url, part, schema: schema[part] }] : [],
    ),
  )
  expect(parts.length).toBeGreaterThan(50)
  for (const { url, part, schema } of parts) expect([url, part, ajv.validateSchema(schema)]).toEqual([url, part, true])
})

it('states the size in bits of every integer, for generators of typed clients', () => {
  const integers = integersIn(document)
  expect(integers.length).toBeGreaterThan(100)
  expect(integers.filter(({ format }) => format !== 'int32' && format !== 'int64')).toEqual([])
  for (const { format, maximum } of integers) if (format === 'int32') expect(maximum).toBeLessThan(2 ** 31)
  expect(JSON.stringify(document.components.schemas.Schedule)).toMatch(/"delayMs":\{[^{}]*"format":"int64"/)
  // A schema that also allows text is neither a number nor a `date-time`: its value may be in epoch ms.
  expect(JSON.stringify(document)).not.toContain('"date-time"')
})

/**
 * Places of schemas for which a generator makes an unnamed type or none: object schemas without a name, and schemas with several
 * types.
 */
function namelessIn(part: unknown, place = ''): string[] {
  if (typeof part !== 'object' || part === null) return []
  const { type, title, properties } = part as { type?: unknown; title?: unknown; properties?: object }
  const types = [type].flat().filter((name) => typeof name === 'string' && name !== 'null')
  const isNameless = properties !== undefined && Object.keys(properties).length > 0 && types.length > 0 && title === undefined
  return [
    ...(isNameless || types.length > 1 ? [place] : []),
    ...Object.entries(part).flatMap(([name, value]) => namelessIn(value, `${place}/${name}`)),
  ]
}

it('has a name for every schema with parts, and one type in each schema for the same field', () => {
  expect(namelessIn(document)).toEqual([])
  expect(namelessIn({ a: { type: ['string', 'integer'] }, b: { type: 'object', properties: { c: {} } } })).toEqual(['/a', '/b'])
  const { schemas } = document.components
  expect(schemas.Instant).toMatchObject({ oneOf: [{ type: 'string' }, { type: 'integer', format: 'int64' }] })
  for (const [name, { title }] of Object.entries(schemas)) expect(title).toBe(name)
})

it('keeps what holds for one use beside the reference, and what holds for all in the component', () => {
  const { schemas } = document.components
  const { properties } = schemas.BackfillRequest as { properties: Record<string, object> }
  expect(properties.from).toEqual({ $ref: '#/components/schemas/Instant', description: 'First nominal time, inclusive.' })
  expect(schemas.Instant?.description).toBe('Time in ISO 8601 with an offset, or epoch ms.')
  expect(JSON.stringify(schemas.Job)).toContain('"anyOf":[{"$ref":"#/components/schemas/Run"},{"type":"null"}]')
})

describe('GET /openapi.json', () => {
  it('describes the promised routes and no other, with the role that each needs', () => {
    const described = operations.map(([place, { description, security }]) => {
      const role = /Least role: (\w+)\.$/.exec(description)?.[1] ?? null
      expect(security.length > 0, place).toBe(role !== null)
      return `${place} ${role}`
    })
    expect(described.sort()).toEqual(promised.map(([method, path, role]) => `${method} ${path} ${role}`).sort())
  })

  it('describes routes that are served', () => {
    for (const [method, path] of promised)
      expect(system.api.instance.hasRoute({ method, url: path.replace(/\{(\w+)\}/g, ':$1') }), `${method} ${path}`).toBe(true)
  })

  it('the document is valid OpenAPI 3.1', async () => {
    expect(document.openapi).toMatch(/^3\.1\./)
    await expect(SwaggerParser.validate(structuredClone(document) as never)).resolves.toBeDefined()
  })

  it('describes for each route its purpose, its input and all of its answers', () => {
    const groups = document.tags.map(({ name }) => name)
    for (const [place, { operationId, summary, tags, parameters = [], responses }] of operations) {
      expect(operationId, place).toMatch(/^[a-z][A-Za-z]+$/)
      expect(summary.length, place).toBeGreaterThan(5)
      expect(groups, place).toEqual(expect.arrayContaining(tags))
      const inPath = Array.from(place.matchAll(/\{(\w+)\}/g), (match) => match[1])
      expect(parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)).toEqual(inPath)
      expect(Object.keys(responses).some((status) => /^2\d\d$/.test(status))).toBe(true)
      for (const { description } of Object.values(responses)) expect(description, place).not.toBe('')
      expect(responses.default?.content?.['application/problem+json']?.schema.$ref, place).toBe('#/components/schemas/Problem')
    }
  })

  it('names every error code', () => {
    const { properties } = document.components.schemas.Problem as { properties: { code: { enum: string[] } } }
    expect(properties.code.enum).toEqual(Object.keys(errorTable))
  })

  it('describes definitions by the fields that are taken, with their limits', () => {
    const { properties, required } = document.components.schemas.JobDefinition as {
      properties: Record<string, { $ref?: string; maximum?: number; description?: string }>
      required: string[]
    }
    expect(required).toEqual(['schedule', 'target'])
    expect(properties.catchUpMax).toMatchObject({ type: 'integer', minimum: 1, maximum: 100_000, default: 100 })
    for (const [name, { $ref, description }] of Object.entries(properties)) {
      const described = document.components.schemas[String($ref?.split('/').at(-1))] ?? {}
      expect(description ?? described.description, name).toBeTruthy()
      // An unknown field is refused with this reason only. Any other refusal shows that the field is known.
      const read = definitionFromJson({ schedule: { at: 0 }, target: { handler: 'a' }, [name]: { not: 'this' } })
      expect(JSON.stringify(read), name).not.toContain('is not a known field; did you')
    }
  })

  it('does not show the routes between processes', () => {
    expect(JSON.stringify(document)).not.toContain('/internal')
  })
})

describe('the page at /docs', () => {
  it('shows the description, and loads nothing from other hosts', async () => {
    const slash = await system.api.instance.inject('/docs/')
    expect([slash.statusCode, new URL(String(slash.headers.location), 'http://a/docs/').pathname]).toEqual([308, '/docs'])
    const page = await system.api.instance.inject('/docs')
    expect(page.headers['content-type']).toMatch(/^text\/html/)
    expect(page.headers['content-security-policy']).toMatch(/default-src 'none'.*connect-src 'self'/)
    expect(page.body).not.toMatch(/(src|href)="(https?:)?\/\//)
    const assets = Array.from(page.body.matchAll(/(?:src|href)="([^"]+)"/g), (match) => match[1])
    expect(assets).toHaveLength(4)
    for (const asset of assets) {
      const answer = await system.api.instance.inject(`/${asset}`)
      expect([asset, answer.statusCode]).toEqual([asset, 200])
      expect(answer.rawPayload.length).toBeGreaterThan(100)
    }
  })
})
