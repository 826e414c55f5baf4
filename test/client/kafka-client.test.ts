import fc from 'fast-check'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type JobDefinition, type JobDefinitionInput, jobDefinitionSchema } from '../../schemas/generated.ts'
import { DefinitionReader } from '../../src/clients/client/definition-reader.ts'
import type { Job } from '../../src/clients/client/job.ts'
import { batchesInFlightMax, batchRecordsMax, createKafkaClient } from '../../src/clients/client/kafka-client.ts'
import type { Rejection } from '../../src/clients/client/options.ts'
import { avroType } from '../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../src/log/kafka/avro/codec.ts'
import { definitionFromJson } from '../../streams/definitions/definition-json.ts'
import { LoopbackLog } from '../tools/loopback-log.ts'
import { rest } from '../tools/manual-clock.ts'

const definition = new AvroCodec<JobDefinition, JobDefinitionInput>(avroType(jobDefinitionSchema), [1], () =>
  Promise.reject(new Error('unknown schema id')),
)
const jobOf = (id: string, more: Partial<Job> = {}): Job => ({
  id,
  schedule: { delayMs: 5 },
  target: { handler: 'noop' },
  ...more,
})

function setUp() {
  const log = new LoopbackLog(4)
  const client = createKafkaClient(async () => ({ writer: await log.writer(), definition, topic: 'jobs', partitions: 4 }))
  const stored = () =>
    new Map(log.records('jobs').map(({ key, value }) => [String(key), value && (definition.decode(value) as JobDefinition)]))
  return { log, client, stored }
}

describe('schedule and cancel', () => {
  it('write the definition and its tombstone to the partition of the id, and say where', async () => {
    const { log, client } = setUp()
    const written = await client.schedule(jobOf('a', { payload: { to: 'x' } }))
    const deleted = await client.delete('a')
    expect(deleted).toEqual({ partition: written.partition, offset: written.offset + 1 })
    const [first, second] = log.records('jobs', written.partition)
    expect(definition.decode(first?.value as Buffer)).toMatchObject({
      schedule: { delayMs: 5, at: null },
      payload: Buffer.from('{"to":"x"}'),
      contentType: 'application/json',
    })
    expect(second?.value).toBeNull()
    await client.close()
  })

  it('refuse what is wrong with every problem in one message', async () => {
    const { client, log } = setUp()
    await expect(client.schedule({ ...jobOf('a'), schedule: { cron: 'x' }, priority: 'URGENT' } as never)).rejects.toMatchObject({
      code: 'bad-definition',
    })
    await expect(client.schedule(jobOf(''))).rejects.toMatchObject({ code: 'bad-job-id' })
    await expect(client.delete('a\u0000b')).rejects.toMatchObject({ code: 'bad-job-id' })
    expect(log.records('jobs')).toEqual([])
    await client.close()
  })

  it('keep each of many calls at once apart', async () => {
    const { client, stored } = setUp()
    const jobs = Array.from({ length: 60 }, (_, index) =>
      jobOf(`job-${index}`, {
        schedule: index % 3 === 0 ? { at: 1_000 + index } : { delayMs: index },
        target: { handler: index % 5 === 0 ? 'other' : 'noop' },
        payload: index % 7 === 0 ? undefined : { index },
      }),
    )
    await Promise.all(jobs.map((job) => client.schedule(job)))
    const read = stored()
    for (const { id, schedule, target, payload } of jobs)
      expect(read.get(id)).toMatchObject({
        schedule: { at: null, delayMs: null, ...schedule },
        target,
        payload: payload === undefined ? null : Buffer.from(JSON.stringify(payload)),
      })
    await client.close()
  })

  it('open the log at the first use, and again when that failed', async () => {
    const log = new LoopbackLog()
    let opened = 0
    const client = createKafkaClient(async () => {
      if (++opened === 1) throw new Error('nobody there')
      return { writer: await log.writer(), definition, topic: 'jobs', partitions: 4 }
    })
    expect(opened).toBe(0)
    await expect(client.schedule(jobOf('a'))).rejects.toThrow('nobody there')
    await client.schedule(jobOf('a'))
    await client.close()
    await client.close()
    expect(log.openWriters).toBe(0)
    await expect(client.schedule(jobOf('a'))).rejects.toThrow('closed')
  })
})

describe('scheduleMany', () => {
  it('writes everything of an iterable and of an async one, in batches', async () => {
    const { log, client, stored } = setUp()
    const jobs = Array.from({ length: 5_300 }, (_, index) => jobOf(`job-${index}`, { payload: { index } }))
    expect(await client.scheduleMany(jobs)).toEqual({ accepted: 5_300, rejected: 0, rejections: [] })
    expect(log.writes).toBe(6)
    async function* more() {
      for (let index = 0; index < 10; index++) yield jobOf(`more-${index}`)
    }
    expect((await client.scheduleMany(more())).accepted).toBe(10)
    expect(stored().size).toBe(5_310)
    expect(stored().get('job-77')?.payload?.toString()).toBe('{"index":77}')
    expect(await client.scheduleMany([])).toEqual({ accepted: 0, rejected: 0, rejections: [] })
    await client.close()
  })

  it('rejects bad jobs one by one and writes the others', async () => {
    const { client, stored } = setUp()
    const told: Rejection[] = []
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    const jobs = [
      jobOf('a'),
      jobOf(''),
      null,
      jobOf('b', { schedule: {} as never }),
      jobOf('c', { payload: 'x'.repeat(600_000) }),
      jobOf('d', { payload: cycle }),
      jobOf('e', { payload: 1n }),
      jobOf('f'),
    ] as Job[]
    const result = await client.scheduleMany(jobs, { onRejected: (rejection) => told.push(rejection) })
    expect(result).toMatchObject({ accepted: 2, rejected: 6 })
    expect(told).toEqual(result.rejections)
    expect(told.map(({ index, id, error }) => [index, id, error.code])).toEqual([
      [1, '', 'bad-job-id'],
      [2, undefined, 'bad-definition'],
      [3, 'b', 'bad-definition'],
      [4, 'c', 'payload-too-large'],
      [5, 'd', 'bad-definition'],
      [6, 'e', 'bad-definition'],
    ])
    expect([...stored().keys()].sort()).toEqual(['a', 'f'])
    await client.close()
  })

  it('reads the iterable no faster than the log takes it', async () => {
    const { log, client } = setUp()
    let open = (): void => {}
    log.gate = new Promise((resolve) => {
      open = resolve
    })
    let read = 0
    function* endless() {
      for (let index = 0; index < 50_000; index++) {
        read++
        yield jobOf(`job-${index}`)
      }
    }
    const scheduling = client.scheduleMany(endless())
    await rest()
    expect(read).toBe(batchRecordsMax * batchesInFlightMax)
    open()
    expect((await scheduling).accepted).toBe(50_000)
    await client.close()
  })

  it('says how many jobs are durable when the log refuses, and stops reading', async () => {
    const { log, client } = setUp()
    let read = 0
    function* jobs() {
      for (let index = 0; index < 50_000; index++) {
        if (index === 20_000) log.refusal = new Error('the broker is away')
        read++
        yield jobOf(`job-${index}`)
      }
    }
    await expect(client.scheduleMany(jobs())).rejects.toThrow(/with \d+ jobs? durable.*the broker is away/)
    expect(read).toBeLessThan(50_000)
    await client.close()
  })

  it('ends with the error of the iterable itself', async () => {
    const { client, stored } = setUp()
    async function* jobs() {
      yield jobOf('a')
      throw new Error('the file ended in the middle')
    }
    await expect(client.scheduleMany(jobs())).rejects.toThrow(/with 1 job durable.*the file ended in the middle/)
    expect(stored().size).toBe(1)
    await client.close()
  })
})

describe('the short way for jobs like the last', () => {
  const anyPayload = fc.option(fc.oneof(fc.jsonValue(), fc.string()), { nil: undefined, freq: 4 })
  const anyTime = fc.oneof(
    fc.integer({ min: -5, max: 4_000_000_000_000 }),
    fc.constant('2030-01-31T09:00:00Z'),
    fc.constant('soon'),
    fc.double(),
  )
  const anySchedule = fc.oneof(
    fc.record({ at: anyTime }),
    fc.record({ delayMs: fc.oneof(fc.integer({ min: -1, max: 400_000_000_000 }), fc.double()) }),
    fc.record({ at: anyTime, delayMs: fc.nat() }, { requiredKeys: [] }),
    fc.record(
      { cron: fc.constantFrom('0 9 * * *', 'x'), timezone: fc.constantFrom('UTC', 'Europe/Paris', 'Mars') },
      { requiredKeys: ['cron'] },
    ),
    fc.constant(null),
  )
  const anyJob = fc.record(
    {
      id: fc.oneof(fc.constantFrom('a', 'b', ''), fc.string()),
      schedule: anySchedule,
      target: fc.constantFrom({ handler: 'noop' }, { handler: 'log' }, { handler: 'log', pool: 'big' }, { handler: '' }),
      payload: anyPayload,
      payloadBase64: fc.constantFrom('AAEC', '?'),
      contentType: fc.constantFrom('application/json', 'text/plain'),
      headers: fc.constantFrom({ a: 'b' }, {}),
      priority: fc.constantFrom('HIGH', 'LOW', 'NONE'),
      tags: fc.constantFrom(['a'], []),
      startAt: fc.constantFrom(5, 3_000_000_000_000),
      retry: fc.constantFrom({ maxAttempts: 2 }, { backoff: { fixed: { delayMs: 5 } } }),
    },
    { requiredKeys: ['id', 'schedule', 'target'] },
  )

  it('gives the same bytes and the same refusals as the long way, in any sequence', () => {
    const say = (job: Job, reader: DefinitionReader): string => {
      try {
        return reader.read(job).value.toString('hex')
      } catch (error) {
        return String(error)
      }
    }
    fc.assert(
      fc.property(
        fc.array(
          fc.tuple(
            anyJob,
            fc.array(fc.record({ id: fc.string(), schedule: anySchedule, payload: anyPayload }, { requiredKeys: [] }), {
              maxLength: 4,
            }),
          ),
        ),
        (groups) => {
          const reader = new DefinitionReader(definition)
          for (const [first, variants] of groups)
            for (const variant of [{}, ...variants, {}]) {
              const job = { ...first, ...variant } as unknown as Job
              const read = definitionFromJson(job, { idRequired: true })
              expect(say(job, reader)).toBe(
                read.ok ? definition.encode(read.definition).toString('hex') : say(job, new DefinitionReader(definition)),
              )
            }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('is not fooled by objects that the caller changes afterwards', () => {
    const reader = new DefinitionReader(definition)
    const target = { handler: 'noop' }
    reader.read({ id: 'a', schedule: { at: 1 }, target })
    target.handler = 'log'
    expect(definition.decode(reader.read({ id: 'b', schedule: { at: 2 }, target }).value)).toMatchObject({
      target: { handler: 'log' },
    })
  })
})

describe('times', () => {
  it('may be Dates wherever they may be text, and mean the same', async () => {
    const { client, stored } = setUp()
    const [from, to] = [new Date('2030-05-01T10:00:00Z'), new Date('2030-06-01T00:00:00Z')]
    const target = { handler: 'noop' }
    await client.schedule({ id: 'at', schedule: { at: from }, target, expireAt: to })
    await client.schedule({ id: 'every', schedule: { everyMs: 1_000, anchor: from }, target, startAt: from, endAt: to })
    await client.schedule({
      id: 'rule',
      schedule: { rrule: 'FREQ=DAILY', dtstart: from, exdates: [to, to.toISOString()] },
      target,
    })
    const read = stored()
    expect(read.get('at')).toMatchObject({ schedule: { at: from.getTime() }, expireAt: to.getTime() })
    expect(read.get('every')).toMatchObject({
      schedule: { anchor: from.getTime() },
      startAt: from.getTime(),
      endAt: to.getTime(),
    })
    expect(read.get('rule')?.schedule).toMatchObject({ dtstart: from.getTime(), exdates: [to.getTime(), to.getTime()] })
    await client.close()
  })

  it('that differ only in a Date stay apart in a bulk, also if the Date is changed after it was given', async () => {
    const { client, stored } = setUp()
    const shared = new Date(5_000)
    const jobs = function* () {
      for (let index = 0; index < 6; index++) {
        shared.setTime(index * 1_000)
        yield jobOf(`job-${index}`, { schedule: { at: new Date(index) }, expireAt: shared })
      }
    }
    await client.scheduleMany(jobs())
    for (let index = 0; index < 6; index++)
      expect(stored().get(`job-${index}`)).toMatchObject({ schedule: { at: index }, expireAt: index * 1_000 })
    await client.close()
  })

  it('that are no time are refused with their field', async () => {
    const { client } = setUp()
    const never = new Date('never')
    await expect(client.schedule(jobOf('a', { schedule: { at: never } }))).rejects.toMatchObject({
      code: 'bad-definition',
      message: expect.stringContaining('schedule.at'),
    })
    await expect(client.schedule(jobOf('a', { endAt: never }))).rejects.toMatchObject({
      message: expect.stringContaining('endAt'),
    })
    await client.close()
  })
})

it('the compiler refuses a schedule with two kinds, or with a field of another kind', () => {
  const { client } = setUp()
  const job = (schedule: Job['schedule']) => () => client.schedule({ id: 'a', schedule, target: { handler: 'noop' } })
  // @ts-expect-error: two kinds
  job({ cron: '0 9 * * *', delayMs: 5 })
  // @ts-expect-error: a delay has no time zone
  job({ delayMs: 5, timezone: 'Europe/Paris' })
  // @ts-expect-error: none
  job({})
  expectTypeOf(job({ cron: '0 9 * * *', timezone: 'Europe/Paris' })).toBeFunction()
  const retry = (backoff: NonNullable<Job['retry']>['backoff']) => backoff
  expectTypeOf(retry).toBeCallableWith({ exponential: { baseMs: 5 } })
  // @ts-expect-error: two kinds
  retry({ fixed: { delayMs: 5 }, exponential: { baseMs: 5 } })
})
