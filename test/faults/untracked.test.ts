/** Untracked runs on the real broker: handed out exactly once, run at least once, and never reported. */
import { Kafka, logLevel } from 'kafkajs'
import { describe, expect, type TestContext, test } from 'vitest'
import type { Job } from '../../src/library/index.ts'
import { prefix as keyPrefix } from '../../streams/state/keys.ts'
import { clean } from '../tools/checker-audit.ts'
import type { DuelogProcess } from '../tools/duelog-process.ts'
import { brokers, openSite, type Portion, type Site } from './harness.ts'

const portion = (count: number, more: Partial<Job> = {}): Portion => {
  const at = Date.now() + 300
  const jobs = Array.from({ length: count }, (_, index) => ({
    id: `u-${index}`,
    schedule: { at },
    target: { handler: 'noop' },
    trackRuns: false,
    ...more,
  }))
  return { jobs, expected: jobs.map(({ id }) => ({ jobId: id, scheduledFor: at })), recurs: false }
}

const runsOf = (worker: DuelogProcess): string[] =>
  worker.messages.flatMap((message) => (message.kind === 'run' ? [`${message.jobId}/${message.runNo}#${message.attempt}`] : []))

async function holds(worker: DuelogProcess, count: number): Promise<string[]> {
  let seen = runsOf(worker).length
  if (seen < count) await worker.next('run', () => ++seen === count)
  return runsOf(worker)
}

/** The offsets that workers have committed of the pool's executions topics, and their ends, as sums. */
async function lag(test: TestContext, { names }: Site): Promise<() => Promise<{ committed: number; end: number }>> {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  test.onTestFinished(() => admin.disconnect())
  const topics = [false, true].map((ahead) => names.executions('default', 'NORMAL', ahead))
  return async () => {
    const groups = await admin.fetchOffsets({ groupId: names.group('exec.default'), topics })
    const ends = (await Promise.all(topics.map((topic) => admin.fetchTopicOffsets(topic)))).flat()
    const sum = (numbers: number[]): number => numbers.reduce((total, number) => total + Math.max(number, 0), 0)
    return {
      committed: sum(groups.flatMap(({ partitions }) => partitions.map(({ offset }) => Number(offset)))),
      end: sum(ends.map(({ high }) => Number(high))),
    }
  }
}

/** How many states the changelog holds of each job. */
async function statesOfEach(site: Site): Promise<number[]> {
  const kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
  const consumer = kafka.consumer({ groupId: `${site.prefix}states` })
  const admin = kafka.admin()
  await Promise.all([consumer.connect(), admin.connect()])
  const ends = new Map<number, number>()
  for (const { partition, high } of await admin.fetchTopicOffsets(site.names.state)) ends.set(partition, Number(high))
  const states = new Map<string, number>()
  await consumer.subscribe({ topic: site.names.state, fromBeginning: true })
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        eachBatch: async ({ batch, resolveOffset, heartbeat }) => {
          for (const { key, offset } of batch.messages) {
            if (key?.[0] === keyPrefix.state) states.set(key.toString('latin1'), (states.get(key.toString('latin1')) ?? 0) + 1)
            resolveOffset(offset)
          }
          // The control record of the last transaction follows its last record.
          if (Number(batch.lastOffset()) >= (ends.get(batch.partition) ?? 0) - 2) ends.delete(batch.partition)
          if (ends.size === 0) resolve()
          await heartbeat()
        },
      })
      .catch(reject)
  })
  await Promise.all([consumer.disconnect(), admin.disconnect()])
  return [...states.values()]
}

describe.concurrent('runs that are not tracked', { timeout: 180_000 }, () => {
  test('write no event, and one state less than tracked runs', async (context) => {
    const site = await openSite(context, { partitions: 1 })
    await site.system('scheduler,retrier,executor', 'all')
    const read = await lag(context, site)
    const expected = await site.write(portion(200))
    const done = async () => {
      const { committed, end } = await read()
      return end >= 200 && committed >= end - 1
    }
    await context.expect.poll(done, { timeout: 30_000 }).toBe(true)
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(site.checker.events).toEqual([])
    expect(await statesOfEach(site)).toEqual(Array.from({ length: 200 }, () => 1))
  })

  test('run again when their worker is killed −9 during the run, each with its own name; then their offsets are committed', async (context) => {
    const site = await openSite(context)
    await site.system('scheduler', 'owner')
    const victim = await site.system('executor', 'victim')
    const expected = await site.write(portion(10, { target: { handler: 'hold' } }))
    const first = await holds(victim, 10)
    await victim.kill()
    const successor = await site.system('executor', 'successor')
    expect((await holds(successor, 10)).sort()).toEqual(first.sort())
    const read = await lag(context, site)
    expect((await read()).committed).toBe(0)
    successor.release()
    const done = async () => {
      const { committed, end } = await read()
      return committed >= end - 2
    }
    await context.expect.poll(done, { timeout: 30_000 }).toBe(true)
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(site.checker.events).toEqual([])
    expect(site.checker.executions).toHaveLength(10)
  })

  test('run to their end in a worker that stops, and then run nowhere else', async (context) => {
    const site = await openSite(context)
    await site.system('scheduler', 'owner')
    const [worker, other] = await Promise.all([site.system('executor', 'worker'), site.system('executor', 'other')])
    await site.write(portion(20, { target: { handler: 'hold' } }))
    const runs = (): string[] => [...runsOf(worker), ...runsOf(other)]
    await context.expect.poll(() => new Set(runs()).size, { timeout: 60_000 }).toBe(20)
    const [before, mine] = [runs().length, runsOf(worker).length]
    expect(mine).toBeGreaterThan(0)
    worker.signal('SIGTERM')
    worker.release()
    expect(await worker.exited).toEqual({ code: 0, signal: null })
    // The partitions of the stopped worker have moved to the other when it runs this.
    const probe = portion(20, { target: { handler: 'hold' } })
    await site.write({ ...probe, jobs: probe.jobs.map((job) => ({ ...job, id: `probe-${job.id}` })) })
    const probes = (): number => runsOf(other).filter((run) => run.startsWith('probe-')).length
    await context.expect.poll(probes, { timeout: 60_000 }).toBe(20)
    expect(runs()).toHaveLength(before + 20)
    other.release()
  })

  test('are handed out once each by owners that are killed −9 at that moment', async (context) => {
    const site = await openSite(context)
    await site.system('executor', 'worker')
    const owner = await site.scheduler()
    const at = Date.now() + 1_000
    const jobs = Array.from({ length: 600 }, (_, index) => ({
      id: `r-${index}`,
      schedule: { at: at + index * 5 },
      target: { handler: 'noop' },
      trackRuns: false,
    }))
    const expected = await site.write({
      jobs,
      expected: jobs.map(({ id, schedule }) => ({ jobId: id, scheduledFor: schedule.at })),
      recurs: false,
    })
    await context.expect.poll(() => site.checker.executions.length, { timeout: 60_000 }).toBeGreaterThan(100)
    await owner.kill()
    await site.scheduler()
    await site.checker.dispatched(expected)
    expect(await site.checker.audit(expected)).toEqual(clean)
    expect(site.checker.events).toEqual([])
  })
})
