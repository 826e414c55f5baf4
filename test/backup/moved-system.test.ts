/**
 * A system with jobs in every state is stopped, backed up, and restored to another number of partitions, where it continues. The oracle is
 * the checker, which reads the executions of both logs and counts by the calendar of the test.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import type { Handler, Run } from '../../src/clients/library/index.ts'
import { readConfig } from '../../src/ground/config/index.ts'
import { clusterOf } from '../../src/log/cluster/index.ts'
import { type System, startSystem } from '../../src/program/system/index.ts'
import { audit } from '../../src/tools/auditor/index.ts'
import { backup, carry, reshard, restore, unfence } from '../../src/tools/backup/index.ts'
import { completeDefinition } from '../../streams/definitions/index.ts'
import { brokers, registryUrl, uniquePrefix } from '../kafka/harness.ts'
import { Checker } from '../tools/checker.ts'
import type { SeenExecution } from '../tools/checker-audit.ts'

const folder = await mkdtemp(join(tmpdir(), 'duelog-moved-'))
afterAll(() => rm(folder, { recursive: true, force: true }))

const from = { prefix: uniquePrefix(), partitions: 3 }
const to = { prefix: uniquePrefix(), partitions: 5 }

interface Call {
  at: number
  jobId: string
  run: Run
  /** Which system it came from. */
  of: string
}

const calls: Call[] = []
const released = Promise.withResolvers<void>()
const late = Promise.withResolvers<void>()
/** Calls of the handler `slow` at once in the new system, and the most there were. */
const slow = { now: 0, most: 0 }

function handlersOf(of: string): Record<string, Handler> {
  const note = (run: Run): void => void calls.push({ at: Date.now(), jobId: run.jobId, run, of })
  return {
    echo: note,
    // The old worker never reports the end of these.
    held: async (run) => {
      note(run)
      if (of === from.prefix) await released.promise
    },
    'ends-late': async (run) => {
      note(run)
      if (of === from.prefix) await late.promise
    },
    'fails-at-first': (run) => {
      note(run)
      if (run.attempt === 1) throw new Error('the first attempt fails')
    },
    'fails-there': (run) => {
      note(run)
      if (of === from.prefix) throw new Error('it fails in the old system')
    },
    slow: async (run) => {
      note(run)
      if (of === from.prefix) return void (await released.promise)
      slow.most = Math.max(slow.most, ++slow.now)
      await new Promise((resolve) => setTimeout(resolve, 100))
      slow.now--
    },
  }
}

async function start(roles: string, { prefix, partitions }: typeof from, settings: Record<string, string> = {}): Promise<System> {
  const config = readConfig({
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
    DUELOG_TOPIC_PREFIX: prefix,
    DUELOG_HTTP_PORT: '0',
    DUELOG_DATA_DIR: join(folder, `${prefix}${roles}`),
    DUELOG_PARTITIONS: String(partitions),
    DUELOG_REPLICATION: '1',
    DUELOG_ROLES: roles,
    ...settings,
  })
  const system = await startSystem({ config, handlers: handlersOf(prefix), logger: pino({ level: process.env.LOG ?? 'silent' }) })
  onTestFinished(() => system.stop(), 60_000)
  await system.ready()
  return system
}

function asking(system: System) {
  return async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const init = body === undefined ? {} : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`${system.url}/v1/${path}`, { method, ...init })
    const text = await answer.text()
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? {} : JSON.parse(text)
  }
}
type Ask = ReturnType<typeof asking>

const callsOf = (jobId: string, of?: string): Call[] =>
  calls.filter((call) => call.jobId === jobId && (of === undefined || call.of === of))
const called = (jobId: string, count = 1, of?: string): Promise<void> =>
  expect.poll(() => callsOf(jobId, of).length).toBeGreaterThanOrEqual(count)
const jobThat = async (ask: Ask, id: string, shape: object): Promise<void> => {
  await expect.poll(() => ask('GET', `jobs/${encodeURIComponent(id)}`)).toMatchObject(shape)
}

const rateMs = 8_000
/** Jobs that recur, with the interval of their occurrences and their number. */
const recurring = [
  ...Array.from({ length: 8 }, (_, index) => ({
    id: `tick-${index}`,
    schedule: { everyMs: 500, anchor: 0 },
    everyMs: 500,
    maxRuns: 36,
  })),
  { id: 'cron', schedule: { cron: '* * * * * *' }, everyMs: 1_000, maxRuns: 18 },
  { id: 'unanchored', schedule: { everyMs: 700 }, everyMs: 700, maxRuns: 26 },
]
const once = Array.from({ length: 12 }, (_, index) => `once-${index}`)
const all = { catchUp: 'ALL', overlap: 'ALLOW', maxConcurrentRuns: 100 }

/** Jobs of every kind in the old system. Resolves with the times of the jobs that run once. */
async function define(ask: Ask): Promise<{ onceAt: number; delayedAt: number }> {
  const put = (id: string, definition: object): Promise<unknown> =>
    ask('PUT', `jobs/${encodeURIComponent(id)}?wait=applied`, { target: { handler: 'echo' }, ...definition })
  const now = { delayMs: 0 }
  await put('alarms', {
    schedule: { at: '2100-01-01T00:00:00Z' },
    ...{ target: { handler: 'held' }, maxConcurrentRuns: 1, leaseMs: 1_000, retry: { backoff: { fixed: { delayMs: 0 } } } },
  })
  const puts: Promise<unknown>[] = recurring.map(({ id, schedule, maxRuns }) => put(id, { schedule, maxRuns, ...all }))
  const later = (id: string, definition: object): void => void puts.push(put(id, definition))
  const onceAt = Date.now() + 15_000
  for (const id of once) later(id, { schedule: { at: new Date(onceAt).toISOString() } })
  for (let index = 0; index < 5; index++) later(`source-${index}`, { schedule: now, onSuccess: ['alarms'] })
  later('ran-once', { schedule: now })
  later('replaced', { schedule: { delayMs: 3_600_000 } })
  later('in-flight', {
    schedule: now,
    target: { handler: 'held' },
    leaseMs: 1_000,
    retry: { backoff: { fixed: { delayMs: 0 } } },
  })
  later('ends-late', { schedule: now, target: { handler: 'ends-late' }, onSuccess: ['follower'] })
  later('follower', { schedule: { at: '2100-01-01T00:00:00Z' } })
  later('blocker', { schedule: now, target: { handler: 'held', pool: 'reports' }, leaseMs: 1_000 })
  later('retried', {
    schedule: now,
    target: { handler: 'fails-at-first' },
    retry: { maxAttempts: 3, backoff: { fixed: { delayMs: 12_000 } } },
  })
  later('dead', { schedule: now, target: { handler: 'fails-there' }, retry: { maxAttempts: 1 } })
  later('paused', { schedule: { at: new Date(Date.now() + 20_000).toISOString() } })
  later('triggered', { schedule: { at: '2100-01-01T00:00:00Z' } })
  later('deleted', { schedule: { everyMs: 60_000, anchor: 0 } })
  later('deleted-after', { schedule: { at: '2100-01-01T00:00:00Z' } })
  for (let index = 0; index < 4; index++)
    later(`{c}${index}`, {
      ...{ schedule: now, target: { handler: 'slow' }, concurrencyKey: 'one-at-a-time', concurrencyLimit: 1, leaseMs: 1_000 },
      retry: { backoff: { fixed: { delayMs: 0 } } },
    })
  for (let index = 0; index < 6; index++)
    later(`{r}${index}`, { schedule: now, rateLimit: { key: 'three-in-8-s', limit: 3, perMs: rateMs } })
  await Promise.all(puts)
  await ask('POST', 'jobs/paused/pause')
  await called('blocker')
  // The only worker of the pool is busy.
  await put('behind', { schedule: now, target: { handler: 'echo', pool: 'reports' } })
  const delayedAt = Date.now() + 15_000
  await put('delayed', { schedule: { delayMs: 15_000 } })
  return { onceAt, delayedAt }
}

/** `before`: what is in the logs and not decided when the schedulers have stopped. `after`: what is sent to them when they have been copied. */
async function sendLate(when: 'before' | 'after'): Promise<void> {
  const { log, openCodecs, names } = clusterOf({ brokers, registryUrl, topicPrefix: from.prefix })
  const codecs = await openCodecs(['default', 'reports'])
  const writer = await log.writer()
  const definition = (more: object) =>
    codecs.definition.encode(completeDefinition({ schedule: { delayMs: 4_000 }, target: { handler: 'echo' }, ...more } as never))
  const job = (key: string, value: Buffer | null) => ({ topic: names.jobs, ofJob: true, key, value })
  const trigger = { topic: names.commands, ofJob: true, key: 'triggered' }
  const command = codecs.command.encode({ type: 'TRIGGER', commandId: when, at: Date.now() })
  if (when === 'before')
    await writer.write([
      job('defined-late', definition({})),
      job('replaced', definition({ schedule: { delayMs: 1_000 } })),
      job('deleted', null),
      { ...trigger, value: command },
    ])
  else
    await writer.write([
      job('defined-after', definition({ schedule: { delayMs: 0 } })),
      job('deleted-after', null),
      { ...trigger, value: command },
    ])
  await writer.close()
}

/** Everything that the old system decided is in the logs, and its workers have reported all but the held runs. */
async function stopped(ask: Ask, checker: Checker, scheduler: System): Promise<void> {
  await Promise.all(['ran-once', 'in-flight', 'ends-late', 'blocker', 'retried', 'dead', '{c}0', '{r}2'].map((id) => called(id)))
  await jobThat(ask, 'behind', { active: [{ status: 'DISPATCHED' }] })
  await jobThat(ask, 'retried', { active: [{ status: 'RETRY_WAIT' }] })
  await jobThat(ask, 'dead', { deadRuns: [1] })
  await jobThat(ask, '{c}3', { active: [{ status: 'WAITING' }] })
  await jobThat(ask, '{r}5', { active: [{ status: 'WAITING' }] })
  await jobThat(ask, 'in-flight', { active: [{ status: 'RUNNING' }] })
  await jobThat(ask, 'alarms', { active: [{ status: 'RUNNING' }], followUpsWaiting: 4 })
  await scheduler.stop()
  const isReported = ({ jobId, runNo, attempt }: SeenExecution): boolean =>
    checker.events.some((event) => event.jobId === jobId && event.runNo === runNo && event.attempt === attempt)
  await expect.poll(() => checker.executions.filter((execution) => !isReported(execution)).map(({ jobId }) => jobId)).toEqual([])
  late.resolve()
  const ended = () => checker.events.filter(({ jobId, type }) => jobId === 'ends-late' && type === 'SUCCEEDED')
  await expect.poll(() => ended().length).toBe(1)
}

it('each occurrence fires once, and what waited, ran or failed goes on, when a stopped system is restored to more partitions', async () => {
  const scheduler = await start('scheduler,api,retrier', from, { DUELOG_POOLS: 'default,reports' })
  await start('executor', from)
  await start('executor', from, { DUELOG_POOLS: 'reports', DUELOG_CONCURRENCY: '1', DUELOG_DATA_DIR: join(folder, 'reports') })
  onTestFinished(() => released.resolve())
  const before = await Checker.open({ brokers, ...from })
  onTestFinished(() => before.close())
  const ask = asking(scheduler)
  const { onceAt, delayedAt } = await define(ask)
  const source = { brokers, registryUrl, topicPrefix: from.prefix }
  const signal = new AbortController().signal
  const common = { pools: [], retentions: {}, replication: 1, partitions: to.partitions, onProgress() {}, signal }
  const move = () => reshard({ ...common, cluster: source, toPrefix: to.prefix, intakeTopics: [] })
  await expect(move()).rejects.toThrow('A scheduler runs')
  await stopped(ask, before, scheduler)
  await sendLate('before')

  const file = join(folder, 'system.backup')
  const made = await backup({ cluster: source, file, onProgress() {}, signal })
  expect(made).toMatchObject({
    partitions: 3,
    live: false,
    counts: { deadRuns: 1, rateLimits: 1, pendingCommands: 1, unreadable: 0 },
  })
  const target = { brokers, registryUrl, topicPrefix: to.prefix }
  const options = { ...common, cluster: target }
  const whole = await readFile(file)
  const middle = Math.floor(whole.length / 2)
  const damaged = Buffer.from(whole)
  damaged[middle] = (damaged[middle] ?? 0) ^ 0xff
  for (const bytes of [whole.subarray(0, middle), whole.subarray(0, -1), damaged, Buffer.from('not a backup')]) {
    await writeFile(join(folder, 'bad.backup'), bytes)
    await expect(restore({ ...options, file: join(folder, 'bad.backup'), dryRun: false })).rejects.toMatchObject({
      code: 'bad-usage',
    })
  }
  expect(await restore({ ...options, file, dryRun: true })).toMatchObject({ records: 0, counts: made.counts })
  const { log } = clusterOf(target)
  expect((await log.topics()).filter((topic) => topic.startsWith(to.prefix))).toEqual([])

  expect(await move()).toMatchObject({ backup: { counts: made.counts }, restore: { partitions: to.partitions } })
  await expect(restore({ ...options, file, dryRun: false })).rejects.toThrow('is not empty')
  const system = await start('all', to, { DUELOG_POOLS: 'default,reports' })
  await sendLate('after')
  const carried = () => carry({ cluster: target, fromPrefix: from.prefix, follow: false, onProgress() {}, signal })
  expect([await carried(), await carried()]).toEqual([3, 0])
  const after = await Checker.open({ brokers, ...to })
  onTestFinished(() => after.close())
  const there = asking(system)
  for (const { id, maxRuns } of recurring) await jobThat(there, id, { status: 'COMPLETED', runNo: maxRuns })

  for (const id of once) await called(id)
  await called('delayed')
  const executions = [...before.executions, ...after.executions]
  const attempts = executions.map(({ jobId, runNo, attempt }) => `${jobId}/${runNo}#${attempt}`)
  expect(attempts.filter((attempt, index) => attempts.indexOf(attempt) !== index)).toEqual([])
  for (const { id, everyMs, maxRuns } of recurring) {
    const times = executions.filter(({ jobId }) => jobId === id).map(({ scheduledFor }) => scheduledFor)
    times.sort((a, b) => a - b)
    expect(times, id).toEqual(Array.from({ length: maxRuns }, (_, index) => (times[0] ?? 0) + index * everyMs))
    expect(after.executions.filter(({ jobId }) => jobId === id).length, id).toBeGreaterThan(0)
  }
  for (const id of once) expect(callsOf(id).map(({ run }) => run.scheduledFor)).toEqual([onceAt])
  expect(callsOf('delayed').map(({ run }) => Math.abs(run.scheduledFor - delayedAt) < 2_000)).toEqual([true])
  expect(callsOf('ran-once')).toHaveLength(1)

  for (const id of ['behind', 'defined-late', 'defined-after', 'replaced', 'follower']) await called(id, 1, to.prefix)
  await called('triggered', 2, to.prefix)
  expect(callsOf('behind').map(({ run }) => run.attempt)).toEqual([1])
  expect(callsOf('ends-late')).toHaveLength(1)
  await jobThat(there, 'ends-late', { succeeded: 1, lastRun: { status: 'SUCCEEDED' } })
  for (const id of ['follower', 'defined-late', 'defined-after', 'replaced']) expect(callsOf(id), id).toHaveLength(1)
  expect(callsOf('triggered')).toHaveLength(2)
  await called('in-flight', 2)
  expect(callsOf('in-flight').map(({ run, of }) => [run.runNo, run.attempt, of])).toEqual([
    [1, 1, from.prefix],
    [1, 2, to.prefix],
  ])
  // Four of them waited.
  await jobThat(there, 'alarms', { runNo: 5, followUpsWaiting: 0, active: [] })
  const causes = callsOf('alarms', to.prefix).map(({ run }) => run.cause?.jobId)
  expect(causes.sort()).toEqual(Array.from({ length: 5 }, (_, index) => `source-${index}`))
  await called('retried', 2)
  expect(callsOf('retried').map(({ run }) => run.attempt)).toEqual([1, 2])
  for (const id of ['deleted', 'deleted-after'])
    await expect.poll(() => there('GET', `jobs/${id}`).catch(String)).toContain('404')

  for (let index = 0; index < 4; index++) await jobThat(there, `{c}${index}`, { succeeded: 1, active: [] })
  expect(slow.most).toBe(1)
  for (let index = 0; index < 6; index++) await jobThat(there, `{r}${index}`, { succeeded: 1 })
  const starts = calls.filter(({ jobId }) => jobId.startsWith('{r}')).map(({ run }) => run.dueAt)
  starts.sort((a, b) => a - b)
  expect(starts).toHaveLength(6)
  for (let index = 3; index < 6; index++) expect((starts[index] ?? 0) - (starts[index - 3] ?? 0)).toBeGreaterThanOrEqual(rateMs)

  const { deadRuns } = await there('GET', 'jobs/dead')
  expect(deadRuns).toEqual([1])
  await there('POST', 'runs/dead/1/redrive')
  await jobThat(there, 'dead', { succeeded: 1, runNo: 2 })
  await jobThat(there, 'paused', { status: 'PAUSED', runNo: 0 })
  await there('POST', 'jobs/paused/resume')
  await called('paused')
  await system.stop()
  const verdict = await audit({ cluster: target, from: undefined, to: undefined, graceMs: 30_000, onProgress() {}, signal })
  expect(verdict.findings).toEqual([])

  const undo = (cluster: typeof target) => unfence({ cluster, onProgress() {}, signal })
  await expect(undo(source)).rejects.toThrow(`${to.prefix}* has run since`)
  const third = uniquePrefix()
  await reshard({ ...common, partitions: 1, cluster: target, toPrefix: third, intakeTopics: [] })
  expect(await undo(target)).toBe(third)
  await expect(undo(target)).rejects.toThrow('was not moved')
})
