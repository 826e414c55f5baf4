/** Workers with different handlers in one pool, beside those of the system itself, on a real broker: each run finds a worker that has its handler, and no attempt is lost. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { createClient, createWorker, type Handlers, type Run, type Worker } from '../../src/library/index.ts'
import { type System, startSystem } from '../../src/system/system.ts'
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
  system = await startSystem({
    config: readConfig({
      ...{ KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl, DUELOG_TOPIC_PREFIX: prefix },
      ...{ DUELOG_HTTP_PORT: '0', DUELOG_DATA_DIR: join(folder, 'data'), DUELOG_PARTITIONS: '4', DUELOG_REPLICATION: '1' },
    }),
    logger,
  })
  await system.ready()
  client = createClient({ url: system.url, ...cluster })
})
afterAll(async () => {
  for (const worker of workers) await worker.close()
  await client?.close()
  await system?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function startWorker(handlers: Handlers): Promise<Worker> {
  const worker = createWorker({ ...cluster, handlers })
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
  await expect(nowhere.start()).rejects.toThrow(`${prefix}none.jobs does not exist`)
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
