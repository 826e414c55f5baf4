/** Handlers with schemas of three libraries: what they get, and what becomes of a payload that does not match. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { type as arktype } from 'arktype'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import { createWorker, type PayloadsOf } from '../../../src/clients/library/worker.ts'
import type { Run } from '../../../src/worker/executor/handlers/handler.ts'
import { withSchema } from '../../../src/worker/executor/handlers/payload-schema.ts'
import { rest } from '../../tools/manual-clock.ts'
import { Harness } from '../harness.ts'

const json = (value: unknown) => ({ payload: Buffer.from(JSON.stringify(value)), contentType: 'application/json' })
const schemas: [name: string, schema: StandardSchemaV1<unknown, { to: string; copies: number }>][] = [
  ['zod', z.object({ to: z.email(), copies: z.number().default(1) })],
  ['valibot', v.object({ to: v.pipe(v.string(), v.email()), copies: v.optional(v.number(), 1) })],
  ['arktype', arktype({ to: 'string.email', copies: 'number = 1' })],
]

describe.each(schemas)('a schema of %s', (_name, schema) => {
  it('gives its value to the handler, with all else of the run', async () => {
    const seen: unknown[] = []
    const mail = withSchema(schema, (run) => {
      expectTypeOf(run).toEqualTypeOf<Run<{ to: string; copies: number }>>()
      const { heartbeat, signal } = run
      heartbeat({ progress: 0.5 })
      seen.push(run.payload, run.payloadBytes?.toString(), run.executionId, signal.aborted)
      return 'sent'
    })
    const harness = await new Harness({}, { handlers: { mail } as never }).start()
    harness.put({ jobId: 'a', handler: 'mail', ...json({ to: 'a@example.org' }) })
    await settled(harness, 1)
    expect(seen).toEqual([{ to: 'a@example.org', copies: 1 }, '{"to":"a@example.org"}', 'a/1@0-0', false])
    expect(ends(harness)).toMatchObject([{ type: 'SUCCEEDED', result: Buffer.from('"sent"') }])
    await harness.stop()
  })

  it('ends a run with another payload at once, and says which field is wrong', async () => {
    const mail = withSchema(schema, () => expect.unreachable())
    const harness = await new Harness({}, { handlers: { mail } as never }).start()
    harness.put({ jobId: 'a', handler: 'mail', ...json({ to: 'nobody', copies: '2' }) })
    harness.put({ jobId: 'b', handler: 'mail' })
    harness.put({ jobId: 'c', handler: 'mail', payload: Buffer.from('{'), contentType: 'application/json' })
    await settled(harness, 3)
    const errors = ends(harness).map(({ error }) => error)
    for (const error of errors.slice(0, 2)) expect(error).toMatchObject({ type: 'PayloadInvalid', retryable: false })
    expect(errors[0]?.message).toMatch(/^the payload does not match the schema of the handler: .*to: .*copies: /s)
    expect(errors[2]).toMatchObject({ type: 'NonRetryableError', retryable: false })
    await harness.stop()
  })

  it('takes only the runs of a batch that match', async () => {
    const batches: unknown[][] = []
    const mails = {
      schema,
      batch: { maxSize: 10, maxWaitMs: 5 },
      run: (runs: readonly Run[]) => {
        batches.push(runs.map(({ payload }) => payload))
        return runs.map(({ jobId }) => ({ result: jobId }))
      },
    }
    const harness = await new Harness({}, { handlers: { mails } }).start()
    for (const [jobId, to] of [
      ['a', 'a@example.org'],
      ['b', 'nobody'],
      ['c', 'c@example.org'],
    ] as const)
      harness.put({ jobId, handler: 'mails', ...json({ to, copies: 3 }) })
    await settled(harness, 3)
    expect(batches).toEqual([
      [
        { to: 'a@example.org', copies: 3 },
        { to: 'c@example.org', copies: 3 },
      ],
    ])
    expect(ends(harness).map(({ jobId, type, result, error }) => [jobId, type, result?.toString() ?? error?.type])).toEqual([
      ['a', 'SUCCEEDED', '"a"'],
      ['b', 'FAILED', 'PayloadInvalid'],
      ['c', 'SUCCEEDED', '"c"'],
    ])
    await harness.stop()
  })
})

it('a schema that checks asynchronously is waited for, and one that throws fails the attempt, which may be tried again', async () => {
  const slow = z.object({ to: z.string() }).refine(async ({ to }) => to !== 'taken', { path: ['to'], message: 'is taken' })
  const broken = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: () => {
        throw new TypeError('no connection')
      },
    },
  } as const
  const handlers = { slow: withSchema(slow, ({ payload }) => payload.to), broken: withSchema(broken, () => expect.unreachable()) }
  const harness = await new Harness({}, { handlers: handlers as never }).start()
  harness.put({ jobId: 'a', handler: 'slow', ...json({ to: 'free' }) })
  await settled(harness, 1)
  harness.put({ jobId: 'b', handler: 'slow', ...json({ to: 'taken' }) })
  await settled(harness, 2)
  harness.put({ jobId: 'c', handler: 'broken', ...json({}) })
  await settled(harness, 3)
  expect(ends(harness).map(({ type, error }) => [type, error?.type, error?.retryable])).toEqual([
    ['SUCCEEDED', undefined, undefined],
    ['FAILED', 'PayloadInvalid', false],
    ['FAILED', 'TypeError', true],
  ])
  expect(ends(harness)[1]?.error?.message).toContain('to: is taken')
  await harness.stop()
})

it('names at most ten issues', async () => {
  const schema = z.object({ list: z.array(z.number()) })
  const harness = await new Harness({}, { handlers: { many: withSchema(schema, () => expect.unreachable()) } as never }).start()
  harness.put({ jobId: 'a', handler: 'many', ...json({ list: Array(30).fill('x') }) })
  await settled(harness, 1)
  const message = ends(harness)[0]?.error?.message ?? ''
  expect(message).toContain('list.9: ')
  expect(message).not.toContain('list.10: ')
  expect(message).toMatch(/; and 20 more$/)
  await harness.stop()
})

it('types and mistakes are found before anything runs', () => {
  const report = z.object({ to: z.string(), at: z.coerce.date().default(() => new Date(0)) })
  expectTypeOf<PayloadsOf<{ report: typeof report }>>().toEqualTypeOf<{ report: { to: string; at?: unknown } }>()
  const worker = (handlers: object) => () => createWorker({ brokers: 'a:1', handlers: handlers as never })
  expect(worker({ a: { schema: {}, handler: () => {} } })).toThrow(/schema of handler "a" does not follow Standard Schema/)
  expect(worker({ a: { schema: report } })).toThrow(/handler "a" is neither a function nor { schema, handler\(run\) } nor/)
  expect(worker({ a: { handler: () => {} } })).toThrow(/handler "a" is neither/)
  expect(worker({ a: { schema: 5, batch: { maxSize: 1, maxWaitMs: 0 }, run: () => {} } })).toThrow(/Standard Schema/)
})

/** The final reports, by job. */
const ends = (harness: Harness) =>
  harness
    .events()
    .filter(({ type }) => type === 'SUCCEEDED' || type === 'FAILED')
    .sort((left, right) => (left.jobId < right.jobId ? -1 : 1))

async function settled(harness: Harness, count: number): Promise<void> {
  for (let round = 0; round < 50 && ends(harness).length < count; round++) {
    await rest()
    await harness.clock.advance(20)
  }
  expect(ends(harness)).toHaveLength(count)
}
