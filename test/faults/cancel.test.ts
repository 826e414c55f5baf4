/** Cancellations over HTTP: of runs in every state, of handlers that ignore them, and with owners that die during them. */
import { randomUUID } from 'node:crypto'
import { describe, expect, type TestContext, test } from 'vitest'
import { createCodecs } from '../../src/log/kafka/avro/codecs.ts'
import { connectLog } from '../../src/log/kafka/log.ts'
import { topicPlans } from '../../streams/topics/topics.ts'
import { usually } from '../setup/long.ts'
import { clean } from '../tools/checker-audit.ts'
import { crashPointsOfCommits, tellingCrashPoints } from '../tools/duelog-process-plan.ts'
import { brokers, openSite, type Portion, registryUrl, type Site } from './harness.ts'

/** Ends a test that hangs. Each test starts several processes, which takes long on a busy machine. */
const limitMs = 240_000

/** A job that is due at once. The expected result is its dispatch. */
function now(id: string, handler: string, more: object = {}): Portion {
  const at = Date.now()
  const job = { id, schedule: { at }, target: { handler }, onSuccess: ['never'], onFailure: ['never'], ...more }
  return { jobs: [job], expected: [{ jobId: id, scheduledFor: at }], recurs: false }
}

/** Calls the API at this address. */
function api(url: string) {
  const ask = async (method: string, path: string) => {
    const response = await fetch(`${url}/v1/${path}`, { method })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const statusOf = async (run: string): Promise<unknown> => (await ask('GET', `runs/${run}`)).body.status
  return { get: (path: string) => ask('GET', path), post: (path: string) => ask('POST', path), statusOf }
}

/** Resolves when a job that was written later has run. Everything before it has been processed by then. */
async function afterAnother(site: Site): Promise<void> {
  const probe = await site.write(now(`probe-${randomUUID()}`, 'noop', { onSuccess: [] }))
  await site.checker.succeeded(probe)
}

const reportsOf = ({ checker }: Site, id: string): string[] =>
  checker.events.filter(({ jobId, type }) => jobId === id && type !== 'HEARTBEAT').map(({ type }) => type)
const attemptsOf = ({ checker }: Site, id: string): number => checker.executions.filter(({ jobId }) => jobId === id).length

describe.concurrent('a run that is canceled', { timeout: limitMs }, () => {
  test('is not started, gets no further attempt, keeps its end, or has its signal aborted, whatever its handler does then', async (context) => {
    const site = await openSite(context)
    const { url } = await site.here('scheduler,retrier,api', 'owner')
    const { get, post, statusOf } = api(url)

    // Before a worker has it: it is not started by the worker that comes later.
    await site.checker.dispatched(await site.write(now('early', 'hold')))
    expect(await statusOf('early/1')).toBe('DISPATCHED')
    expect((await post('runs/early/1/cancel')).status).toBe(200)
    expect(await statusOf('early/1')).toBe('CANCELLED')
    const worker = await site.system('executor', 'worker')
    await afterAnother(site)
    expect(worker.messages.filter(({ kind }) => kind === 'run')).toEqual([])
    expect(reportsOf(site, 'early')).toEqual([])

    // While it waits for its next attempt: it gets none.
    const retry = { maxAttempts: 5, backoff: { fixed: { delayMs: 4_000 } } }
    await site.write(now('again', 'fail', { payload: { times: 9 }, retry }))
    // The test's own `expect`, because tests run side by side.
    await context.expect.poll(() => statusOf('again/1')).toBe('RETRY_WAIT')
    expect((await post('runs/again/1/cancel')).status).toBe(200)
    expect(await statusOf('again/1')).toBe('CANCELLED')
    // The attempt in the delay topic arrives, and nothing is left to do.
    await site.checker.until(() => reportsOf(site, 'again').includes('RETRY_DUE'))
    await afterAnother(site)
    expect(attemptsOf(site, 'again')).toBe(1)
    expect((await get('jobs/again')).body).toMatchObject({ cancelled: 1, failed: 0, deadRuns: [] })

    // After its end: a refusal.
    await site.checker.succeeded(await site.write(now('done', 'noop', { onSuccess: [] })))
    await context.expect.poll(() => statusOf('done/1')).toBe('SUCCEEDED')
    expect(await post('runs/done/1/cancel')).toMatchObject({ status: 404, body: { code: 'not-found' } })
    expect((await post('jobs/done/cancel')).status).toBe(200)
    expect(await statusOf('done/1')).toBe('SUCCEEDED')

    // While it runs.
    const cases = [
      { id: 'one', handler: 'hold', path: 'runs/one/1/cancel' },
      {
        id: 'all',
        handler: 'hold',
        path: 'jobs/all/cancel',
        more: { schedule: { everyMs: 500 }, overlap: 'SKIP' },
      },
      { id: 'deaf', handler: 'deaf', path: 'runs/deaf/1/cancel' },
    ]
    for (const { id, handler, path, more } of cases) {
      const running = worker.next('run', ({ jobId }) => jobId === id)
      await site.write(now(id, handler, more))
      await running
      // A worker does not report the start of an attempt that is cancelled before that report has left.
      await site.checker.until(() => reportsOf(site, id).includes('STARTED'))
      const aborted = worker.next('aborted', ({ jobId }) => jobId === id)
      expect(await post(path)).toMatchObject({ status: 200, body: { applied: true, status: 'COMPLETED' } })
      expect(await statusOf(`${id}/1`)).toBe('CANCELLED')
      expect(await aborted).toMatchObject({ reason: 'Cancelled: command' })
      expect(await post(`runs/${id}/1/cancel`)).toMatchObject({ status: 404, body: { code: 'not-found' } })
    }
    worker.release()
    await afterAnother(site)
    for (const { id } of cases) {
      expect((await get(`jobs/${id}`)).body).toMatchObject({ nextFireAt: null, succeeded: 0, failed: 0, cancelled: 1, runNo: 1 })
      expect(await statusOf(`${id}/1`)).toBe('CANCELLED')
      expect(reportsOf(site, id)).toEqual(['STARTED'])
      expect(attemptsOf(site, id)).toBe(1)
    }
  })
})

describe.concurrent('a cancellation whose owner dies', () => {
  test.for(usually(tellingCrashPoints, crashPointsOfCommits))(
    '%s is applied once, by the next owner or before',
    { timeout: limitMs },
    async (point, context) => {
      const site = await openSite(context, { partitions: 1 })
      // The first commit dispatches, the second cancels.
      const victim = await site.scheduler({ crash: { point, nth: 2, also: 'worker-control' } })
      const worker = await site.system('executor', 'worker')
      const running = worker.next('run')
      const expected = await site.write(now('held', 'hold'))
      await running
      const aborted = worker.next('aborted')
      await cancelByLog(context, site, 'held')
      expect(await victim.exited).toEqual({ code: null, signal: 'SIGKILL' })
      await carriedOut(site, await site.here('scheduler,api', 'successor'))
      await aborted
      expect(worker.messages.filter(({ kind }) => kind === 'aborted')).toHaveLength(1)
      expect(await site.checker.audit(expected)).toEqual(clean)
    },
  )

  test('right after its answer is not lost', { timeout: limitMs }, async (context) => {
    const site = await openSite(context)
    const owner = await site.system('scheduler,api', 'owner')
    const worker = await site.system('executor', 'worker')
    const { url } = await owner.next('system', () => true, 0)
    const { post } = api(url)
    const running = worker.next('run')
    const expected = await site.write(now('held', 'deaf'))
    await running
    const aborted = worker.next('aborted')
    expect((await post('runs/held/1/cancel')).status).toBe(200)
    await owner.kill()
    const successor = await site.here('scheduler,api', 'successor')
    await aborted
    worker.release()
    await afterAnother(site)
    await carriedOut(site, successor)
    expect(await site.checker.audit([...expected, ...probesOf(site)])).toEqual(clean)
  })
})

const probesOf = ({ checker }: Site) => checker.executions.filter(({ jobId }) => jobId.startsWith('probe-'))

/** The job ran once, and that run is cancelled. */
async function carriedOut(site: Site, { url }: { url: string }): Promise<void> {
  const { get } = api(url)
  const { body } = await get('jobs/held')
  expect(body).toMatchObject({ status: 'COMPLETED', runNo: 1, succeeded: 0, cancelled: 1, lastRun: { status: 'CANCELLED' } })
  expect(attemptsOf(site, 'held')).toBe(1)
}

/** Writes the command that the API writes. An owner under test has no API. */
async function cancelByLog(test: TestContext, { names }: Site, id: string): Promise<void> {
  const log = connectLog({ brokers, clientId: 'faults' })
  const codecs = await createCodecs({ registryUrl, plans: topicPlans(names, ['default']) })
  const writer = await log.writer()
  test.onTestFinished(() => writer.close())
  const value = codecs.command.encode({ type: 'CANCEL_RUN', commandId: randomUUID(), at: Date.now(), runNo: 1 })
  await writer.write([{ topic: names.commands, key: id, value }])
}
