/** Workers with different handlers in one pool, beside those of the system itself, and paused pools and workers, on a real broker: each run finds a worker that may start it, and no attempt is lost. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createClient,
  createWorker,
  type Handlers,
  type Run,
  type Worker,
  type WorkerOptions,
} from '../../src/clients/library/index.ts'
import { readConfig } from '../../src/ground/config/config.ts'
import { type System, startSystem } from '../../src/program/system/system.ts'
import { topicNames, topicsOfPool } from '../../streams/topics/topics.ts'
import { brokers, openLog, registryUrl, uniquePrefix } from '../kafka/harness.ts'

const prefix = uniquePrefix()
const cluster = { brokers, registryUrl, topicPrefix: prefix }
const warnings: string[] = []
const logger = pino(
  { level: 'warn' },
  {
    write: (line: string) => {
      warnings.push(JSON.parse(line).msg)
    },
  },
)
const far = { at: '2040-01-01T00:00:00Z' }
const noRetry = { maxAttempts: 1 }
let folder: string
let system: System
let client: ReturnType<typeof createClient>
const workers: Worker[] = []

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-routing-'))
  // All roles: its own worker is in the default pool and has the built-in handlers only.
  await startDuelog()
})
afterAll(async () => {
  for (const worker of workers) await worker.close()
  await client?.close()
  await system?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function startDuelog(): Promise<void> {
  system = await startSystem({
    config: readConfig({
      ...{ KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl, DUELOG_TOPIC_PREFIX: prefix },
      ...{ DUELOG_HTTP_PORT: '0', DUELOG_DATA_DIR: join(folder, 'data'), DUELOG_PARTITIONS: '4', DUELOG_REPLICATION: '1' },
      ...{ DUELOG_POOLS: 'default,quiet', DUELOG_HTTP_ALLOW: '127.0.0.1' },
      DUELOG_HTTP_SIGNING_KEY: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    }),
    logger,
  })
  await system.ready()
  client = createClient({ url: system.url, ...cluster })
}

async function startWorker(handlers: Handlers, more: Partial<WorkerOptions> = {}): Promise<Worker> {
  const worker = createWorker({ ...cluster, handlers, ...more })
  workers.push(worker)
  await worker.start()
  return worker
}

const ended = (id: string) =>
  client
    .schedule({ id, schedule: { delayMs: 300 }, target: { handler: id.split('/')[0] ?? '' }, retry: noRetry, leaseMs: 5_000 })
    .run()

it('runs go where their handler is, whichever worker reads their partition', async () => {
  await startWorker({ mine: (run: Run) => run.runNo })
  const ids = Array.from({ length: 60 }, (_, index) => `${index % 3 === 0 ? 'noop' : 'mine'}/${index}`)
  const runs = await Promise.all(ids.map(ended))
  expect(runs.map(({ status, errors }) => ({ status, errors }))).toEqual(ids.map(() => ({ status: 'SUCCEEDED', errors: [] })))
})

it('requests of http targets are made by the workers that were told how, so each is signed', async () => {
  const signatures: unknown[] = []
  const receiver = createServer((request, response) => {
    signatures.push(request.headers['webhook-signature'])
    response.end()
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  const job = { schedule: { delayMs: 300 }, target: { http: { url } }, retry: noRetry }
  const runs = await Promise.all(Array.from({ length: 20 }, (_, index) => client.schedule({ ...job, id: `hook/${index}` }).run()))
  receiver.closeAllConnections()
  receiver.close()
  expect(runs.map(({ status, errors }) => ({ status, errors }))).toEqual(runs.map(() => ({ status: 'SUCCEEDED', errors: [] })))
  expect(signatures).toEqual(runs.map(() => expect.stringMatching(/^v1,/)))
  const handlers = (await client.workers()).map(({ name, pools }) => [
    name,
    pools.flatMap((pool) => pool.handlers).includes('http'),
  ])
  expect(Object.fromEntries(handlers)).toMatchObject({ duelog: true, worker: false })
})

it('a run waits for a worker that has its handler, says so, and starts when one comes', async () => {
  // A trigger of a job that its owner has not applied yet is refused.
  await client.schedule({ id: 'later', schedule: far, target: { handler: 'later' }, retry: noRetry }, { wait: 'applied' })
  const run = client.trigger('later').run({ timeoutMs: 60_000 })
  await expect.poll(async () => (await client.why('later')).why.map(({ code }) => code)).toContain('handler-missing')
  const [active] = await client.runs('later')
  expect(active).toMatchObject({ status: 'WAITING', waitsFor: 'HANDLER' })
  await expect.poll(() => system.metrics.registry.metrics()).toMatch(/duelog_runs_without_handler\{partition="\d"\} 1/)
  expect(warnings.join('\n')).toMatch(/No worker of pool default has the handler later\./)
  await startWorker({ later: () => 'at last' })
  expect(await run).toMatchObject({ status: 'SUCCEEDED', errors: [] })
})

it('a worker of a pool without topics says how to make them, and a job of it goes on once they are there', async () => {
  const worker = createWorker({ ...cluster, pool: 'gpu', handlers: { render: () => 'done' } })
  workers.push(worker)
  await expect(worker.start()).rejects.toMatchObject({
    code: 'unsafe-topic',
    message: expect.stringMatching(/Pool gpu has no topics: .*executions\.gpu\..*duelog topics apply --pools gpu/),
  })
  const nowhere = createWorker({ ...cluster, topicPrefix: `${prefix}none.`, handlers: {} })
  await expect(nowhere.start()).rejects.toThrow(`${prefix}none.worker-control does not exist`)
  await nowhere.close()
  await client.schedule({ id: 'picture', schedule: { delayMs: 1 }, target: { handler: 'render', pool: 'gpu' } })
  await expect.poll(async () => (await client.get('picture'))?.status).toBe('INVALID')
  await openLog().makeMissing(topicsOfPool(topicNames(prefix), 'gpu'), { partitions: 4, replication: 1 })
  const late = createWorker({ ...cluster, pool: 'gpu', handlers: { render: () => 'done' } })
  workers.push(late)
  await late.start()
  await expect.poll(async () => (await client.get('picture'))?.status).toBe('COMPLETED')
})

it('runs of a worker that stops before it has started them go to another one', async () => {
  const begun = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const slow = (): Promise<void> => {
    begun.resolve()
    return release.promise
  }
  const first = createWorker({ ...cluster, handlers: { slow }, concurrency: 1 })
  await first.start()
  const ids = Array.from({ length: 12 }, (_, index) => `slow/${index}`)
  const runs = ids.map(ended)
  await begun.promise
  await startWorker({ slow: () => undefined })
  const closed = first.close()
  release.resolve()
  await closed
  expect((await Promise.all(runs)).map(({ status, errors }) => [status, errors])).toEqual(ids.map(() => ['SUCCEEDED', []]))
})

it('runs of a worker that is killed go to another one: those it had not started lose no attempt', async () => {
  const script = fileURLToPath(new URL('./silent-worker.ts', import.meta.url))
  const child = fork(script, [prefix, registryUrl, ...brokers], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  try {
    const heard: unknown[] = []
    child.on('message', (message) => heard.push(message))
    await expect.poll(() => heard).toContain('started')
    const ids = Array.from({ length: 8 }, (_, index) => `held/${index}`)
    const runs = ids.map(ended)
    await expect.poll(() => heard).toContain('begun')
    // Its owner knows of the start.
    const statuses = async () => (await Promise.all(ids.map((id) => client.runs(id)))).flat().map(({ status }) => status)
    await expect.poll(statuses).toContain('RUNNING')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await startWorker({ held: () => undefined })
    const found = await Promise.all(runs)
    // The one that it had begun has used its only attempt.
    expect(found.filter(({ status }) => status === 'DEAD').map(({ errors }) => errors.map(({ type }) => type))).toEqual([
      ['LeaseLost'],
    ])
    expect(found.filter(({ status, errors }) => status === 'SUCCEEDED' && errors.length === 0)).toHaveLength(ids.length - 1)
  } finally {
    child.kill('SIGKILL')
  }
})

it('runs of a paused pool wait, also those that its worker has taken, over a restart of owner and API, and start once when it is resumed', async () => {
  const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const calls: string[] = []
  const quiet = async ({ jobId }: Run): Promise<void> => {
    calls.push(jobId)
    begun.resolve()
    await release.promise
  }
  await startWorker({ quiet }, { pool: 'quiet', concurrency: 1 })
  const ids = Array.from({ length: 12 }, (_, index) => `quiet/${index}`)
  const start = (some: string[]): Promise<unknown> =>
    Promise.all(
      some.map((id) =>
        client.schedule({ id, schedule: { delayMs: 10 }, target: { handler: 'quiet', pool: 'quiet' }, retry: noRetry }),
      ),
    )
  await start(ids.slice(0, 8))
  await begun.promise
  expect(await client.pausePool('quiet')).toMatchObject({ state: 'PAUSED', pausedBy: 'local' })
  await start(ids.slice(8))
  const statuses = async () =>
    (await Promise.all(ids.map((id) => client.runs(id)))).flat().map(({ waitsFor, status }) => waitsFor ?? status)
  const [running = ''] = calls
  const waits = ids.map((id) => (id === running ? 'RUNNING' : 'POOL_PAUSED'))
  await expect.poll(statuses).toEqual(waits)
  expect((await client.pools()).find(({ pool }) => pool === 'quiet')).toMatchObject({ running: 1, inPausedPool: 11, workers: 2 })
  const { why } = await client.why(ids.find((id) => id !== running) ?? '')
  expect(why[0]?.text).toMatch(/^Run 1 waits until its pool quiet is resumed/)
  expect(await system.metrics.registry.metrics()).toMatch(/duelog_pool_paused\{pool="quiet"\} 1/)
  await client.close()
  await system.stop()
  await startDuelog()
  release.resolve()
  await expect.poll(statuses).toEqual(waits.map((each) => (each === 'RUNNING' ? 'SUCCEEDED' : each)))
  // A new owner learns of them by itself.
  await expect
    .poll(async () => (await client.pools()).find(({ pool }) => pool === 'quiet'))
    .toMatchObject({ state: 'PAUSED', inPausedPool: 11 })
  expect(calls).toEqual([running])
  expect(await client.resumePool('quiet')).toMatchObject({ state: 'ACTIVE', stateSince: null })
  await expect.poll(statuses).toEqual(ids.map(() => 'SUCCEEDED'))
  expect(calls.toSorted()).toEqual(ids.toSorted())
})

it('a drained pool does what was dispatched, and is DRAINED then', async () => {
  const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const drained = async (): Promise<void> => {
    begun.resolve()
    await release.promise
  }
  await startWorker({ drained }, { pool: 'quiet', concurrency: 1 })
  const start = (id: string) =>
    client.schedule({ id, schedule: { delayMs: 10 }, target: { handler: 'drained', pool: 'quiet' }, retry: noRetry }).run()
  const runs = [start('drained/1'), start('drained/2')]
  await begun.promise
  await expect.poll(async () => (await client.runs('drained/2'))[0]?.status).toBe('DISPATCHED')
  expect(await client.drainPool('quiet')).toMatchObject({ state: 'DRAINING' })
  runs.push(start('drained/3'))
  await expect.poll(async () => (await client.runs('drained/3'))[0]?.waitsFor).toBe('POOL_PAUSED')
  release.resolve()
  expect((await Promise.all(runs.slice(0, 2))).map(({ status }) => status)).toEqual(['SUCCEEDED', 'SUCCEEDED'])
  await expect.poll(async () => (await client.pools()).find(({ pool }) => pool === 'quiet')?.state).toBe('DRAINED')
  await client.resumePool('quiet')
  expect(await runs[2]).toMatchObject({ status: 'SUCCEEDED', attempts: 1 })
})

it('a paused worker finishes what it runs, and the rest goes to others; drained it says when it is idle; resumed it works again', async () => {
  const [begun, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const calls: string[] = []
  const single = async ({ jobId }: Run): Promise<void> => {
    calls.push(jobId)
    begun.resolve()
    await release.promise
  }
  const one = await startWorker({ single }, { name: 'one', concurrency: 1 })
  const ids = Array.from({ length: 6 }, (_, index) => `single/${index}`)
  const runs = ids.map(ended)
  await begun.promise
  const find = async () => (await client.workers()).find(({ name }) => name === 'one') ?? expect.fail('The worker is not listed.')
  const { instance } = await find()
  expect(await client.drainWorker(instance)).toMatchObject({ state: 'DRAINING', running: 1 })
  await startWorker({ single: () => undefined }, { name: 'two' })
  expect(
    (await Promise.all(runs.filter((_, index) => ids[index] !== calls[0]))).map(({ status, errors }) => [status, errors]),
  ).toEqual(ids.slice(1).map(() => ['SUCCEEDED', []]))
  await expect.poll(async () => (await find()).connected).toBe(false)
  release.resolve()
  expect(await Promise.all(runs)).toHaveLength(ids.length)
  await expect.poll(async () => (await find()).state).toBe('DRAINED')
  expect(one.current()?.running).toEqual([])
  expect(await client.resumeWorker(instance)).toMatchObject({ state: 'ACTIVE' })
  // With more workers than partitions it may get none.
  await expect.poll(async () => (await find()).connected).toBe(true)
  expect(calls).toHaveLength(1)
  await expect(client.pauseWorker('nobody')).rejects.toMatchObject({ code: 'not-found' })
  await expect(client.pausePool('nowhere')).rejects.toMatchObject({ code: 'not-found' })
})
