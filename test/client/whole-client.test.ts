/** The client on a whole system with a real broker: every way to write, and the result of a handler without polling. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createClient, createWorker, RunFailedError, type Worker } from '../../src/clients/library/index.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'

interface Payloads {
  double: { value: number }
  fails: undefined
}

const prefix = uniquePrefix()
const cluster = { brokers, registryUrl, topicPrefix: prefix }
const far = { at: '2040-01-01T00:00:00Z' }
let folder: string
let owning: System
let asking: System
let worker: Worker
const over: { http: ReturnType<typeof clients>['http']; both: ReturnType<typeof clients>['both'] }[] = []

/** One over HTTP alone, whose process owns nothing, and one that writes definitions to Kafka. */
function clients() {
  const http = createClient<Payloads>({ url: asking.url ?? '' })
  const both = createClient<Payloads>({ url: asking.url ?? '', ...cluster })
  return { http, both }
}

const start = (name: string, roles: string) =>
  startSystem({
    config: readConfig({
      ...{ KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl, DUELOG_TOPIC_PREFIX: prefix },
      ...{ DUELOG_ROLES: roles, DUELOG_HTTP_PORT: '0', DUELOG_DATA_DIR: join(folder, name) },
      ...{ DUELOG_PARTITIONS: '2', DUELOG_REPLICATION: '1' },
    }),
    logger: pino({ level: 'silent' }),
  })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-client-'))
  owning = await start('owning', 'scheduler,retrier')
  asking = await start('asking', 'api')
  await owning.ready()
  worker = createWorker<Payloads>({
    ...cluster,
    handlers: {
      double: async ({ payload }) => ({ doubled: payload.value * 2 }),
      fails: async () => {
        throw new Error('no such customer')
      },
    },
  })
  await worker.start()
  over.push(clients())
})
afterAll(async () => {
  for (const { http, both } of over) await Promise.all([http.close(), both.close()])
  await worker?.close()
  await asking?.stop()
  await owning?.stop()
  await rm(folder, { recursive: true, force: true })
})

const client = (which: 'http' | 'both') => {
  const [opened] = over
  if (opened === undefined) throw new Error('The clients are not open.')
  return opened[which]
}

const recorder = () => client('both') as ReturnType<typeof clients>['both']

it.each(['http', 'both'] as const)('over %s, the result of the handler comes back, as that of a trigger does', async (which) => {
  const id = `double/${which}`
  const target = { handler: 'double' } as const
  const result = client(which)
    .schedule({ id, schedule: { delayMs: 0 }, target, payload: { value: 21 } })
    .result()
  expect(await result).toEqual({ doubled: 42 })
  const again = client(which).trigger(id, { payload: { value: 4 } })
  expect(await again.result()).toEqual({ doubled: 8 })
  expect(await again).toMatchObject({ runId: `${id}/2` })
  expect(await client(which).awaitRun(id, { runNo: 1 })).toMatchObject({ runId: `${id}/1`, result: { doubled: 42 } })
})

it.each(['http', 'both'] as const)('over %s, a dead run rejects with its error, and can be redriven', async (which) => {
  const id = `fails/${which}`
  const job = { id, schedule: { delayMs: 0 }, target: { handler: 'fails' } as const, retry: { maxAttempts: 1 } }
  const failed = await client(which)
    .schedule(job)
    .result()
    .catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(RunFailedError)
  expect((failed as RunFailedError).message).toBe(
    `Run ${id}/1 is dead after 1 attempt. The last error is Error: no such customer`,
  )
  const redriven = await client(which).redrive(id, 1).run()
  expect(redriven).toMatchObject({ runNo: 2, trigger: 'REDRIVE', status: 'DEAD' })
})

it('many callers wait at once, and each hears of its own run', async () => {
  const values = Array.from({ length: 300 }, (_, value) => value)
  const results = values.map((value) =>
    client('both')
      .schedule({ id: `many/${value}`, schedule: { delayMs: 0 }, target: { handler: 'double' }, payload: { value } })
      .result(),
  )
  expect(await Promise.all(results)).toEqual(values.map((value) => ({ doubled: value * 2 })))
})

it('of two clients that create one job, one wins, over Kafka as over HTTP', async () => {
  const job = (tag: string) => ({ id: 'unique', schedule: far, target: { handler: 'fails' } as const, tags: [tag] })
  const plain = createClient<Payloads>(cluster)
  await client('http').schedule(job('first'), { ifAbsent: true })
  await expect(client('http').schedule(job('second'), { ifAbsent: true })).rejects.toMatchObject({ code: 'version-conflict' })
  // Its owner judges this one: the answer says only that it is durable.
  await plain.schedule(job('third'), { ifAbsent: true })
  const { etag } = await client('http').schedule({ ...job('first'), tags: ['first', 'again'] }, { wait: 'applied' })
  expect((await client('http').get('unique'))?.definition?.tags).toEqual(['first', 'again'])
  expect((await client('http').get('unique'))?.etag).toBe(etag)
  await plain.close()
})

it('its records schedule and delete jobs in a transaction of the user, and an aborted one does nothing', async () => {
  const target = { handler: 'double' } as const
  const jobs = ['outbox/1', 'outbox/2', '{tag}outbox'].map((id) => ({ id, schedule: far, target, payload: { value: 1 } }))
  const records = await recorder().records(...jobs)
  const producer = new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer({
    ...{ transactionalId: `${prefix}outbox`, maxInFlightRequests: 1, idempotent: true },
  })
  await producer.connect()
  const send = async (given: typeof records, end: 'commit' | 'abort'): Promise<void> => {
    const transaction = await producer.transaction()
    for (const { topic, ...message } of given) await transaction.send({ topic, messages: [message] })
    await transaction[end]()
  }
  await send(records, 'abort')
  await send(records, 'commit')
  for (const { id } of jobs) {
    // The owner reads both transactions in their order.
    const { etag } = await client('http').schedule(
      { id: `after-${id}`, schedule: far, target, payload: { value: 1 } },
      { wait: 'applied' },
    )
    expect(etag).toMatch(/^"\d+\.\d+"$/)
    await expect.poll(async () => (await client('http').get(id))?.status).toBe('ACTIVE')
  }
  await send(await recorder().deletionRecords(...jobs.map(({ id }) => id)), 'commit')
  for (const { id } of jobs) await expect.poll(() => client('http').get(id)).toBeUndefined()
  await producer.disconnect()
})

it('a wait goes on while another process takes the partitions over', async () => {
  const results = Array.from({ length: 20 }, (_, value) =>
    client('http')
      .schedule({ id: `moved/${value}`, schedule: { delayMs: 4_000 }, target: { handler: 'double' }, payload: { value } })
      .result(),
  )
  await client('http').partitions()
  const next = await start('next', 'scheduler,retrier')
  await owning.stop()
  owning = next
  expect(await Promise.all(results)).toEqual(results.map((_, value) => ({ doubled: value * 2 })))
})
