/** Workers that die or stop while handlers run. */
import { Kafka, logLevel } from 'kafkajs'
import { describe, expect, type TestContext, test } from 'vitest'
import type { Job } from '../../src/clients/library/index.ts'
import { clean } from '../tools/checker-audit.ts'
import type { DuelogProcess } from '../tools/duelog-process.ts'
import { brokers, openSite, type Portion, type Site } from './harness.ts'

const holding = (count: number, more: Partial<Job> = {}): Portion => {
  const at = Date.now() + 300
  const jobs = Array.from({ length: count }, (_, index) => ({
    id: `held-${index}`,
    schedule: { at },
    target: { handler: 'hold' },
    ...more,
  }))
  return { jobs, expected: jobs.map(({ id }) => ({ jobId: id, scheduledFor: at })), recurs: false }
}

/** Resolves when this many handlers hold in this process, with their runs. */
async function runsIn(worker: DuelogProcess, count: number): Promise<{ jobId: string; attempt: number }[]> {
  let seen = 0
  await worker.next('run', () => ++seen === count)
  return worker.messages.filter((message) => message.kind === 'run')
}

/** Resolves when the group has committed this many executions. From then on only the lease can detect that their worker died. */
async function accepted(test: TestContext, { names }: Site, count: number): Promise<void> {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  test.onTestFinished(() => admin.disconnect())
  const topics = [false, true].map((ahead) => names.executions('default', 'NORMAL', ahead))
  const endsOf = async (topic: string) =>
    (await admin.fetchTopicOffsets(topic)).map(({ partition, high }) => ({ topic, partition, end: Number(high) }))
  const ends = (await Promise.all(topics.map(endsOf))).flat()
  expect(ends.reduce((sum, { end }) => sum + end, 0)).toBeGreaterThanOrEqual(count)
  const committed = async () => {
    const groups = await admin.fetchOffsets({ groupId: names.group('exec.default'), topics })
    const offsetOf = (topic: string, partition: number): number =>
      Number(groups.find((group) => group.topic === topic)?.partitions.find((each) => each.partition === partition)?.offset)
    // The control record of its transaction follows the last execution.
    return ends.every(({ topic, partition, end }) => offsetOf(topic, partition) >= end - 1)
  }
  // The test's own `expect`, because tests run side by side.
  await test.expect.poll(committed).toBe(true)
}

/** Long enough that no live worker on a busy machine loses a lease. */
const leaseMs = 8_000

describe.concurrent('a worker that ends with handlers running', () => {
  test('by kill −9: another worker gets its runs after their lease', async (context) => {
    const site = await openSite(context)
    await site.here('scheduler,retrier', 'owner')
    const victim = await site.system('executor', 'victim')
    const expected = await site.write(holding(10, { leaseMs }))
    await runsIn(victim, 10)
    await accepted(context, site, 10)
    await victim.kill()
    const successor = await site.system('executor', 'successor')
    const runs = await runsIn(successor, 10)
    expect(runs.map(({ attempt }) => attempt)).toEqual(Array(10).fill(2))
    successor.release()
    await site.checker.succeeded(expected)
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(site.checker.executions).toHaveLength(20)
    for (const second of site.checker.executions.filter(({ attempt }) => attempt === 2)) {
      const started = site.checker.events.find(({ jobId, type }) => jobId === second.jobId && type === 'STARTED')
      expect(second.dispatchedAt).toBeGreaterThanOrEqual((started?.startedAt ?? Number.NaN) + leaseMs)
    }
  })

  test('by SIGTERM: runs that end within the drain count, nothing runs twice', async (context) => {
    const site = await openSite(context)
    await site.here('scheduler,retrier', 'owner')
    const worker = await site.system('executor', 'worker')
    const expected = await site.write(holding(10))
    await runsIn(worker, 10)
    worker.signal('SIGTERM')
    // Its partitions have moved to another worker, which is not concerned with the runs here.
    const other = await site.system('executor', 'other')
    const late = { id: 'late', schedule: { at: Date.now() }, target: { handler: 'noop' } }
    const lateOne = await site.write({
      jobs: [late],
      expected: [{ jobId: 'late', scheduledFor: late.schedule.at }],
      recurs: false,
    })
    await site.checker.succeeded(lateOne)
    expect(worker.ended).toBeUndefined()
    worker.release()
    expect(await worker.exited).toEqual({ code: 0, signal: null })
    expected.push(...lateOne)
    await site.checker.succeeded(expected)
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(site.checker.executions).toHaveLength(11)
    expect(other.messages.filter(({ kind }) => kind === 'run')).toEqual([])
  })

  test('by SIGTERM: runs that last longer than the drain are given back and run elsewhere', async (context) => {
    const site = await openSite(context)
    await site.here('scheduler,retrier', 'owner')
    const worker = await site.system('executor', 'worker', { DUELOG_DRAIN_MS: '500' })
    const expected = await site.write(holding(10, { leaseMs: 3_600_000 }))
    await runsIn(worker, 10)
    const other = await site.system('executor', 'other')
    worker.signal('SIGTERM')
    expect(await worker.exited).toEqual({ code: 0, signal: null })
    const runs = await runsIn(other, 10)
    expect(runs.map(({ attempt }) => attempt)).toEqual(Array(10).fill(2))
    other.release()
    await site.checker.succeeded(expected)
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(site.checker.events.filter(({ type }) => type === 'RELEASED')).toHaveLength(10)
  })
})

describe.concurrent('a worker that hangs', () => {
  test('with its event loop blocked: another worker gets its runs after their lease', async (context) => {
    const site = await openSite(context)
    await site.here('scheduler,retrier', 'owner')
    const victim = await site.system('executor', 'victim')
    const expected = await site.write(holding(5, { leaseMs: 2_000 }))
    await runsIn(victim, 5)
    await accepted(context, site, 5)
    victim.block()
    const successor = await site.system('executor', 'successor')
    const runs = await runsIn(successor, 5)
    expect(runs.map(({ attempt }) => attempt)).toEqual(Array(5).fill(2))
    successor.release()
    await site.checker.succeeded(expected)
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(victim.ended).toBeUndefined()
  })

  test('in a handler that never returns and sends heartbeats: its attempt times out and the run is retried', async (context) => {
    const site = await openSite(context)
    await site.here('scheduler,retrier', 'owner')
    const worker = await site.system('executor', 'worker')
    const more: Partial<Job> = {
      target: { handler: 'stuck' },
      leaseMs: 1_000,
      attemptTimeoutMs: 3_000,
      retry: { backoff: { list: [0] } },
    }
    const expected = await site.write(holding(3, more))
    await site.checker.succeeded(expected)
    expect(await site.checker.audit(expected)).toEqual(clean)
    const failures = site.checker.events.filter(({ type }) => type === 'FAILED')
    expect(failures.map(({ attempt, error }) => [attempt, error?.type])).toEqual(Array(3).fill([1, 'AttemptTimeout']))
    // Longer than three leases, and no lease was lost: the worker was alive all the time.
    expect(site.checker.executions).toHaveLength(6)
    expect(worker.messages.filter(({ kind }) => kind === 'run')).toHaveLength(6)
  })
})
