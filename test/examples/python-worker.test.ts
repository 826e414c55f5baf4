/** The worker protocol of docs/PROTOCOL.md as somebody else's libraries speak it: the Python worker of the examples, on the real broker. */
import { afterAll, beforeAll, expect, type TestContext, test, vi } from 'vitest'
import { createWorker } from '../../src/clients/library/index.ts'
import { brokers, openLog, registryUrl } from '../kafka/harness.ts'
import { openPlace } from '../targets/harness.ts'
import { makePythonEnvironment, type PythonEnvironment, PythonWorker } from './python-environment.ts'

const patience = { timeout: 60_000, interval: 100 }
let environment: PythonEnvironment

beforeAll(async () => {
  environment = await makePythonEnvironment()
}, 300_000)
afterAll(() => environment?.remove())

interface RunView {
  runNo: number
  status: string
  /** Of an active run the number of the current one. */
  attempts: number
  worker: string | null
  startedAt: string | null
  result: unknown
  errors: { type: string; message: string }[]
  /** Of an active run: when its owner last read a heartbeat. */
  checkedAt?: string | null
}

/** An owner with the topics of the pool `python` and no worker of its own. */
async function openHouse(context: TestContext) {
  const place = await openPlace()
  const system = await place.start({ DUELOG_ROLES: 'scheduler,retrier,api', DUELOG_POOLS: 'python' })
  const worker = async (settings: Record<string, string> = {}): Promise<PythonWorker> => {
    const started = new PythonWorker(context, environment, {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DUELOG_TOPIC_PREFIX: place.prefix,
      ...settings,
    })
    await started.said('ready')
    return started
  }
  const runs = async (id: string): Promise<{ active: RunView[]; finished: RunView[] }> => {
    const answer = await fetch(`${system.url}/v1/jobs/${id}/runs`)
    const { runs } = (await answer.json()) as { runs: (RunView & { finishedAt?: unknown })[] }
    const isFinished = (run: { finishedAt?: unknown }): boolean => run.finishedAt !== undefined && run.finishedAt !== null
    return { active: runs.filter((run) => !isFinished(run)), finished: runs.filter(isFinished) }
  }
  /** The first finished run of the job, once there is one. */
  const finished = (id: string): Promise<RunView> =>
    vi.waitFor(async () => {
      const [run] = (await runs(id)).finished
      if (run === undefined) throw new Error(`${id} has no finished run`)
      return run
    }, patience)
  /** Executions of usual priority that the group has committed: with few, that of each partition is the first. */
  const accepted = async (): Promise<number> => {
    const { names } = place
    const admin = await openLog().admin()
    const positions = await admin.committed(names.group('exec.python'), names.executions('python', 'NORMAL'))
    await admin.close()
    return positions.filter(({ offset }) => offset > 0).length
  }
  const schedule = (id: string, handler: string, more: object = {}) =>
    place.client.schedule({ id, schedule: { at: Date.now() + 200 }, target: { handler, pool: 'python' }, ...more })
  return { place, system, worker, runs, finished, accepted, schedule }
}

test('a worker in Python runs jobs to their end, with results, retries and dead letters', async (context) => {
  const house = await openHouse(context)
  await house.worker()
  await house.schedule('report', 'send-report', { payload: { to: 'a@example.org' } })
  await house.schedule('again', 'flaky-check')
  await house.schedule('nobody', 'send-report', { payload: {} })
  await house.schedule('unknown', 'no-such-handler', { retry: { maxAttempts: 1 } })
  const report = await house.finished('report')
  expect(report).toMatchObject({ status: 'SUCCEEDED', attempts: 1, result: { sentTo: 'a@example.org', attempt: 1 } })
  expect(report.worker).toMatch(/^python@.+:\d+:[0-9a-f]{8}$/)
  expect(await house.finished('again')).toMatchObject({ status: 'SUCCEEDED', attempts: 2, errors: [{ type: 'RetryLater' }] })
  expect(await house.finished('nobody')).toMatchObject({ status: 'DEAD', attempts: 1, errors: [{ type: 'NonRetryable' }] })
  expect(await house.finished('unknown')).toMatchObject({ status: 'DEAD', errors: [{ type: 'handler-missing' }] })
}, 120_000)

test('two workers share a burst that was dispatched ahead of its time: each run once, none early', async (context) => {
  const house = await openHouse(context)
  await Promise.all([house.worker(), house.worker()])
  const ids = Array.from({ length: 200 }, (_, index) => `herd-${index}`)
  const at = Date.now() + 3_000
  const jobs = ids.map((id) => ({
    id,
    schedule: { at },
    target: { handler: 'send-report', pool: 'python' },
    payload: { to: id },
  }))
  await house.place.client.scheduleMany(jobs)
  for (const id of ids) {
    const run = await house.finished(id)
    expect(run).toMatchObject({ runNo: 1, status: 'SUCCEEDED', attempts: 1, result: { sentTo: id } })
    expect(Date.parse(String(run.startedAt))).toBeGreaterThanOrEqual(at)
  }
}, 120_000)

test.for(['ours', 'Python'])(
  'one pool has workers of both kinds, and %s came first: each run is done once, and both have some',
  { timeout: 120_000 },
  async (first, context) => {
    const house = await openHouse(context)
    const ours = createWorker({
      ...{ brokers, registryUrl, topicPrefix: house.place.prefix, pool: 'python', name: 'ours' },
      handlers: { 'send-report': async (run) => ({ sentTo: (run.payload as { to: string }).to, attempt: run.attempt }) },
    })
    context.onTestFinished(() => ours.close())
    if (first === 'ours') await ours.start()
    await house.worker()
    if (first !== 'ours') await ours.start()
    const share = async () => {
      const admin = await openLog().admin()
      const members = await admin.groupMembers(house.place.names.group('exec.python'))
      await admin.close()
      return members.map(({ instance, assigned }) => [instance.split('@')[0], assigned.length]).sort()
    }
    await vi.waitFor(
      async () =>
        expect(await share()).toEqual([
          ['ours', 6],
          ['python', 6],
        ]),
      patience,
    )
    const ids = Array.from({ length: 200 }, (_, index) => `shared-${index}`)
    const at = Date.now() + 2_000
    await house.place.client.scheduleMany(
      ids.map((id) => ({ id, schedule: { at }, target: { handler: 'send-report', pool: 'python' }, payload: { to: id } })),
    )
    const workers = new Set<string | undefined>()
    for (const id of ids) {
      const run = await house.finished(id)
      expect(run).toMatchObject({ runNo: 1, status: 'SUCCEEDED', attempts: 1, result: { sentTo: id } })
      workers.add(run.worker?.split('@')[0])
    }
    expect([...workers].sort()).toEqual(['ours', 'python'])
  },
)

test('the lease of a killed worker ends, and a stopped worker gives its run back', async (context) => {
  const house = await openHouse(context)
  const killed = await house.worker()
  await house.schedule('held', 'wait-until-cancelled', { leaseMs: 1_500 })
  await killed.said('holding held/1')
  // Until then the record would come again, and the lease would have nothing to do.
  await vi.waitFor(async () => expect(await house.accepted()).toBe(1), patience)
  await killed.stop('SIGKILL')
  const stopped = await house.worker({ DRAIN_SECONDS: '0.2' })
  await stopped.said('holding held/1')
  const second = await vi.waitFor(async () => {
    const [run] = (await house.runs('held')).active
    if (run?.attempts !== 2) throw new Error(`attempt ${run?.attempts} runs`)
    return run
  }, patience)
  expect(second.errors).toMatchObject([{ type: 'LeaseLost' }])
  expect(await stopped.stop('SIGTERM')).toBe(0)
  expect(stopped.output).toContain('let go of held/1')
  const third = await house.worker()
  await third.said('holding held/1')
  // The cancelled run counts the attempts whose start its owner has read.
  await vi.waitFor(async () => expect((await house.runs('held')).active).toMatchObject([{ attempts: 3 }]), patience)
  const cancelled = await fetch(`${house.system.url}/v1/runs/held/1/cancel`, { method: 'POST' })
  expect(cancelled.ok).toBe(true)
  await third.said('let go of held/1')
  expect(await house.finished('held')).toMatchObject({ status: 'CANCELLED', attempts: 3 })
}, 120_000)

test('heartbeats carry progress and keep the lease of a handler that runs for longer', async (context) => {
  const house = await openHouse(context)
  const worker = await house.worker()
  await house.schedule('long', 'wait-until-cancelled', { leaseMs: 1_000 })
  await worker.said('holding long/1')
  const beatAt = async (): Promise<number> => Date.parse(String((await house.runs('long')).active[0]?.checkedAt))
  const first = await vi.waitFor(async () => {
    expect(await beatAt()).toBeGreaterThan(0)
    return beatAt()
  }, patience)
  // Several leases later it is still the first attempt.
  await vi.waitFor(async () => expect(await beatAt()).toBeGreaterThan(first + 3_000), patience)
  expect((await house.runs('long')).active).toMatchObject([{ status: 'RUNNING', attempts: 1, errors: [] }])
}, 120_000)
