/** The executor on a real broker. */
import { pino } from 'pino'
import { expect, it } from 'vitest'
import type { Handler } from '../../src/worker/executor/handlers/handler.ts'
import { openLog, Watcher } from '../kafka/harness.ts'
import { openCluster, partitionCount } from './cluster.ts'

const countsOf = (ids: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}

it('runs 1,000 executions of all lanes once, none early, reports each to its own partition, and commits them all', async () => {
  const cluster = await openCluster()
  const { events, until } = await cluster.watchEvents()
  const early: string[] = []
  const starts: string[] = []
  const noop: Handler = (run) => {
    starts.push(run.executionId)
    if (Date.now() < run.dueAt) early.push(run.executionId)
    return run.attempt % 2 === 0 ? undefined : Promise.resolve({ run: run.runNo })
  }
  const executor = cluster.executor({ handlers: { noop } })
  await executor.start()
  const from = Date.now() + 500
  const records = Array.from({ length: 1_000 }, (_, index) =>
    cluster.record(
      {
        jobId: `job-${index}`,
        attempt: 1 + (index % 2),
        dueAt: from + (index % 700),
        priority: (['HIGH', 'NORMAL', 'LOW'] as const)[index % 3],
      },
      index % 5 === 0,
    ),
  )
  await cluster.dispatch(records)
  await until(() => new Set(events.filter(({ type }) => type === 'SUCCEEDED').map(({ jobId }) => jobId)).size === 1_000)
  // Tools that look at consumer groups show no lag for an idle pool, although each partition ends with a transaction marker.
  await expect.poll(() => cluster.lags()).toEqual([])
  await executor.stop()

  expect(early).toEqual([])
  expect(new Set(starts).size).toBe(1_000)
  expect(starts).toHaveLength(1_000)
  const finals = countsOf(events.filter(({ type }) => type === 'SUCCEEDED').map(({ jobId }) => jobId))
  expect(finals.size).toBe(1_000)
  expect([...finals.values()].every((count) => count === 1)).toBe(true)
  for (const event of events) expect(event.startedAt).toBeGreaterThanOrEqual(from)
  const partitions = new Map(records.map(({ key, partition }) => [key, partition]))
  for (const { jobId, partition } of events) expect(partition).toBe(partitions.get(jobId))

  // Everything is committed: a successor receives nothing.
  const successor = cluster.executor({ handlers: { noop } })
  await successor.start()
  await cluster.dispatch(Array.from({ length: partitionCount * 8 }, (_, index) => cluster.record({ jobId: `after-${index}` })))
  await until(
    () => events.filter(({ type, jobId }) => type === 'SUCCEEDED' && jobId.startsWith('after-')).length === partitionCount * 8,
  )
  expect(starts).toHaveLength(1_000 + partitionCount * 8)
})

it('hands over to another worker while it stops: every run starts once, or is given back before it starts', async () => {
  const cluster = await openCluster()
  const { events, until } = await cluster.watchEvents()
  const starts: string[] = []
  const noop: Handler = (run) => void starts.push(run.jobId)
  const first = cluster.executor({ handlers: { noop } })
  await first.start()
  const from = Date.now()
  await cluster.dispatch(
    Array.from({ length: 2_000 }, (_, index) => cluster.record({ jobId: `job-${index}`, dueAt: from + 1_500 + (index % 1_000) })),
  )
  await until(() => events.length >= 500)
  const second = cluster.executor({ handlers: { noop } })
  await Promise.all([first.stop(), second.start()])
  const ended = () => events.filter(({ type }) => type === 'SUCCEEDED' || type === 'RELEASED').map(({ jobId }) => jobId)
  await until(() => new Set(ended()).size === 2_000)
  expect(ended()).toHaveLength(2_000)
  const releases = events.filter(({ type }) => type === 'RELEASED').map(({ jobId }) => jobId)
  expect([...starts, ...releases].sort()).toEqual(ended().sort())
})

it('loses nothing when a second worker joins in between', async () => {
  const cluster = await openCluster()
  const { events, until } = await cluster.watchEvents()
  const byWorker = [new Set<string>(), new Set<string>()]
  const workers = byWorker.map((mine) => cluster.executor({ handlers: { noop: (run) => void mine.add(run.executionId) } }))
  await workers[0]?.start()
  const dispatch = (from: number): Promise<unknown> =>
    cluster.dispatch(
      Array.from({ length: 1_000 }, (_, index) =>
        cluster.record({ jobId: `job-${from + index}`, dueAt: Date.now() + 1_000 + 2 * index }),
      ),
    )
  await dispatch(0)
  await until(() => events.length >= 100)
  await workers[1]?.start()
  await dispatch(1_000)
  await until(() => new Set(events.filter(({ type }) => type === 'SUCCEEDED').map(({ jobId }) => jobId)).size === 2_000)
  expect(new Set([...(byWorker[0] ?? []), ...(byWorker[1] ?? [])]).size).toBe(2_000)
  expect(byWorker.every((mine) => mine.size > 0)).toBe(true)
})

/** The brokers of the tests take records of 4 MiB. Room for the member itself is left, and none for 16 KiB more. */
const otherBytes = 4 * 1024 * 1024 - 6_000

it('joins without an announcement if the brokers cannot keep the group with it, and runs what it can', async () => {
  const cluster = await openCluster()
  const { names } = cluster
  const groupId = names.group('exec.default')
  const userData = () => ({ filler: 'x'.repeat(otherBytes) })
  const other = new Watcher({ topics: [names.events], groupId, instance: 'other@h:1:a', assignment: 'open', userData })
  await other.reader.start()
  const said: string[] = []
  const logger = pino({ level: 'warn' }, { write: (line: string) => void said.push(JSON.parse(line).msg) })
  const long = Array.from({ length: 127 }, (_, index) => `${index}`.padEnd(128, 'h'))
  const noop: Handler = () => undefined
  const executor = cluster.executor({ handlers: Object.fromEntries(['noop', ...long].map((name) => [name, noop])), logger })
  await executor.start()
  expect(said.filter((text) => /announces its handlers no more/.test(text))).toHaveLength(1)
  // The other one has lost the group too. Our workers join again by themselves.
  await other.until(() => other.crashes.length > 0)
  expect(other.crashes[0]?.message).toMatch(/^The brokers cannot keep group .*message\.max\.bytes/)
  const admin = await openLog().admin()
  const [member, ...more] = await admin.groupMembers(groupId)
  await admin.close()
  expect([member?.userData, more]).toEqual([expect.objectContaining({ handlers: null }), []])
  const { events, until } = await cluster.watchEvents()
  await cluster.dispatch([cluster.record({ jobId: 'one' })])
  await until(() => events.some(({ type }) => type === 'SUCCEEDED'))
})
