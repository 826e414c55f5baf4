/** Whatever the client can do, a test system answers: it is the API of the product. */
import diagnostics from 'node:diagnostics_channel'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Client, Run } from '../../src/clients/library/index.ts'
import { type TestSystem, testSystem } from '../../src/testing/library.ts'
import { createSystem } from '../api/system-in-memory.ts'
import { gathered } from '../tools/gathered.ts'

const from = '2027-01-01T00:00:00Z'
const job = { id: 'other', schedule: { everyMs: 60_000 }, target: { handler: 'work' } }
const work = { action: 'PAUSE', filter: { tag: 'night' } } as const

/** What the calls find: `a` has ended runs, the run 2 of `dead` is dead, a run of `long` goes on, and one of `waits` is tried again later. */
async function prepared(): Promise<TestSystem> {
  const duelog = testSystem({
    handlers: ({ sleep }) => ({
      work: ({ log }: Run) => log('info', 'done'),
      long: () => sleep(200_000),
      broken: () => {
        throw new Error('broken')
      },
    }),
  })
  const soon = { delayMs: 1_000 }
  await duelog.schedule({ ...job, id: 'a', tags: ['night'], concurrencyKey: 'k', concurrencyLimit: 1 })
  await duelog.schedule({ id: 'long', schedule: soon, target: { handler: 'long' }, concurrencyKey: 'busy', concurrencyLimit: 1 })
  await duelog.schedule({ id: 'dead', schedule: soon, target: { handler: 'broken' }, retry: { maxAttempts: 1 } })
  const retry = { maxAttempts: 2, backoff: { fixed: { delayMs: 3_600_000 } } }
  await duelog.schedule({ id: 'waits', schedule: soon, target: { handler: 'broken' }, retry })
  await duelog.advanceBy(120_000)
  return duelog
}

const first = async <Item>(items: AsyncIterable<Item>): Promise<Item | undefined> => (await gathered(items))[0]
const operation = (duelog: TestSystem) => duelog.operate(work)
const cancelledBackfill = async (duelog: TestSystem) => {
  await duelog.pausePool('default')
  await duelog.backfill('a', { from: '2026-12-31T23:00:00Z', to: from })
  return duelog.cancelBackfill('a')
}
const worker = async (duelog: TestSystem) => (await duelog.workers())[0]?.instance ?? ''

/** A call of a method, and what it answers. */
type Row = [call: (duelog: TestSystem) => Promise<unknown>, answer: unknown]

/** One call of each method that changes nothing. */
const reads = {
  get: [(duelog) => duelog.get('a'), { succeeded: 2 }],
  list: [(duelog) => gathered(duelog.list({ tag: 'night' })), [{ id: 'a' }]],
  runs: [(duelog) => duelog.runs('a'), [{ runNo: 2 }, { runNo: 1 }]],
  run: [(duelog) => duelog.run('long', 1), { status: 'RUNNING' }],
  logs: [(duelog) => gathered(duelog.logs('a', 1, { follow: true })), [{ text: 'done' }]],
  activeRuns: [(duelog) => gathered(duelog.activeRuns({ handler: 'long' })), [{ jobId: 'long' }]],
  history: [(duelog) => gathered(duelog.history({ outcome: 'DEAD' })), [{ jobId: 'dead', runNo: 1 }]],
  handlers: [(duelog) => duelog.handlers(), { handlers: expect.any(Array) }],
  historyCounts: [(duelog) => duelog.historyCounts({ jobId: 'dead' }), { total: { DEAD: 1 } }],
  why: [(duelog) => duelog.why('a'), { status: 'ACTIVE' }],
  countOperation: [(duelog) => duelog.countOperation(work), 1],
  countBackfill: [(duelog) => duelog.countBackfill('a', { from, to: '2027-01-01T00:01:30Z' }), { occurrences: 2 }],
  deadLetters: [(duelog) => first(duelog.deadLetters()), { runId: 'dead/1' }],
  deadLetter: [(duelog) => duelog.deadLetter('dead', 1), { execution: { attempt: 1 } }],
  preview: [(duelog) => duelog.preview({ everyMs: 60_000 }, { count: 1 }), [{ at: '2027-01-01T00:03:00.000Z' }]],
  plan: [(duelog) => duelog.plan([{ ...job, id: 'a' }]), { jobs: [{ id: 'a' }] }],
  forecast: [(duelog) => duelog.forecast({ horizonMs: 300_000 }), { jobs: 1, sampled: 1 }],
  dueJobs: [(duelog) => duelog.dueJobs({ from: '2027-01-01T00:02:01Z', horizonMs: 60_000 }), { jobs: [{ id: 'a' }] }],
  workers: [(duelog) => duelog.workers(), [{ name: 'worker', running: 1 }]],
  limits: [(duelog) => duelog.limits(), [{ key: 'busy', held: 1 }]],
  pools: [(duelog) => duelog.pools(), [{ pool: 'default', workers: 1 }]],
  partitions: [(duelog) => duelog.partitions(), [{ phase: 'active' }, { phase: 'active' }]],
  series: [(duelog) => duelog.series(), { columns: { ended: [] } }],
  proof: [(duelog) => duelog.proof(), {}],
  audit: [(duelog) => first(duelog.audit({ jobId: 'long' })), { action: 'PUT' }],
} satisfies Partial<Record<keyof Client, Row>>

/** One call of each of the others. */
const changes: Record<Exclude<keyof Client, 'close' | keyof typeof reads>, Row> = {
  call: [(duelog) => duelog.call('work', 1).run(), { status: 'SUCCEEDED' }],
  schedule: [(duelog) => duelog.schedule(job, { ifAbsent: true, wait: 'applied' }), { applied: true, status: 'ACTIVE' }],
  scheduleMany: [(duelog) => duelog.scheduleMany([job, { ...job, id: '' }]), { accepted: 1, rejected: 1 }],
  delete: [(duelog) => duelog.delete('a').then(() => duelog.get('a')), undefined],
  awaitRun: [(duelog) => duelog.awaitRun('long', { runNo: 1 }, { timeoutMs: 300_000 }), { status: 'SUCCEEDED' }],
  trigger: [(duelog) => duelog.trigger('a').run(), { trigger: 'MANUAL', status: 'SUCCEEDED' }],
  pause: [(duelog) => duelog.pause('a'), { status: 'PAUSED' }],
  resume: [(duelog) => duelog.resume('a'), { status: 'ACTIVE' }],
  skipNext: [(duelog) => duelog.skipNext('a'), { applied: true }],
  cancel: [(duelog) => duelog.cancel('a'), { status: 'COMPLETED' }],
  cancelRun: [(duelog) => duelog.cancelRun('long', 1), { applied: true }],
  retryRun: [(duelog) => duelog.retryRun('waits', 1).then(() => duelog.run('waits', 1)), { status: 'DEAD', attempts: 2 }],
  redrive: [(duelog) => duelog.redrive('dead', 1).run(), { status: 'DEAD', trigger: 'REDRIVE' }],
  operate: [operation, { action: 'PAUSE' }],
  operation: [async (duelog) => duelog.operation((await operation(duelog)).id), { status: 'DONE', total: 1 }],
  operations: [async (duelog) => [await operation(duelog), await duelog.operations()][1], [{ status: 'DONE' }]],
  cancelOperation: [async (duelog) => duelog.cancelOperation((await operation(duelog)).id), { status: 'DONE' }],
  backfill: [(duelog) => duelog.backfill('a', { from: '2026-12-31T23:58:00Z', to: from }), { applied: true }],
  cancelBackfill: [cancelledBackfill, { applied: true }],
  pauseWorker: [async (duelog) => duelog.pauseWorker(await worker(duelog)), { state: 'PAUSED' }],
  drainWorker: [async (duelog) => duelog.drainWorker(await worker(duelog)), { state: 'DRAINING' }],
  resumeWorker: [async (duelog) => duelog.resumeWorker(await worker(duelog)), { state: 'ACTIVE' }],
  pausePool: [(duelog) => duelog.pausePool('default'), { state: 'PAUSED' }],
  drainPool: [(duelog) => duelog.drainPool('default'), { state: 'DRAINING' }],
  resumePool: [(duelog) => duelog.resumePool('default'), { state: 'ACTIVE' }],
}

/** Operations that no method of the client calls, and why a test needs none. */
const others: Record<string, string> = {
  'GET /livez': 'a test has no process to watch',
  'GET /readyz': 'a test has no process to watch',
  'GET /metrics': 'a test has no process to watch',
  'GET /v1/settings': 'a test has no settings of a process',
  'GET /v1/session': 'a test has no tokens',
  'GET /v1/events': 'the dashboard alone follows it',
  'POST /v1/proof/acknowledge': 'no auditor runs in a test, so it finds no faults',
}

const reached = new Set<string>()
const channel = 'tracing:fastify.request.handler:start'
const note = (message: unknown): void => {
  const { url, method } = (message as { route: { url: string; method: string } }).route
  reached.add(`${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`)
}
beforeAll(() => diagnostics.subscribe(channel, note))
afterAll(() => void diagnostics.unsubscribe(channel, note))

async function expectAnswer(duelog: TestSystem, [call, answer]: Row): Promise<void> {
  const answered = await call(duelog)
  if (typeof answer === 'object') expect(answered).toMatchObject(answer as object)
  else expect(answered).toBe(answer)
}

let read: Promise<TestSystem> | undefined
it.each(Object.entries<Row>(reads))('answers %s', async (_, row) => {
  read ??= prepared()
  await expectAnswer(await read, row)
})

it.each(Object.entries<Row>(changes))('carries out %s', async (_, row) => {
  const duelog = await prepared()
  await expectAnswer(duelog, row)
  await duelog.close()
})

it('has a call for each operation of the API, or a reason why it has none', async () => {
  await using system = createSystem()
  const { paths } = (await system.api.instance.inject('/openapi.json')).json() as { paths: Record<string, object> }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
  expect(operations.filter((name) => !reached.has(name)).toSorted()).toEqual(Object.keys(others).toSorted())
})
