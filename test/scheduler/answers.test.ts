/**
 * Answers to a claim or a commit without the offsets of its records: they count as no answer. Read as 0, they would mean that
 * the log was replaced.
 */
import { expect, test } from 'vitest'
import { checkpointKey } from '../../src/scheduler/state/checkpoint.ts'
import { type Disk, metrics } from '../model/cluster/process.ts'
import { names } from '../model/world.ts'
import { SchedulerDriver } from '../tools/scheduler-driver.ts'

const job = { schedule: { everyMs: 10_000 }, target: { handler: 'x' }, overlap: 'ALLOW' } as const

/** Number of reopens because the changelog seemed to be another one. */
async function takenForOthers(): Promise<number> {
  const { values } = await metrics.reopens.get()
  return values.reduce((sum, { labels, value }) => sum + (/log-shrunk|changelog-cut/.test(String(labels.reason)) ? value : 0), 0)
}

/** The next answer to a commit with records for job-state has no offset for that topic. */
function forgetsOne(driver: SchedulerDriver): void {
  const { log } = driver
  const { append } = log
  log.append = (records, transaction) => {
    const offsets = append.call(log, records, transaction)
    if (transaction !== undefined && offsets.delete(`${names.state}/0`)) log.append = append
    return offsets
  }
}

/** An owner that has fired for this time, and how often a changelog was taken for another one until then. */
async function firing(forMs: number) {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', job)
  await driver.advance(forMs, 1_000)
  return { driver, disk, first, before: await takenForOthers() }
}

test.each(['claim', 'commit'] as const)(
  'the partition is reopened after such an answer to a %s, with the same store',
  async (to) => {
    const { driver, disk, first, before } = await firing(21_000)
    if (to === 'claim') driver.kill(first)
    forgetsOne(driver)
    const owner = to === 'claim' ? driver.boot('B', disk) : first
    await driver.advance(11_000, 1_000)
    expect(await takenForOthers()).toBe(before)
    expect(driver.phases(owner)).toBe('active')
    expect(driver.executions().map(({ runNo }) => runNo)).toEqual([1, 2, 3])
    expect(owner.scheduler.queries.partitions()[0]?.lastReset).toBeNull()
    const [local] = disk.get(0)?.getNow([checkpointKey]) ?? []
    expect(JSON.parse(local?.toString() ?? '{}')).not.toHaveProperty('changelog')
  },
)

test('a claim that is read before the answer to its commit is not a claim in another log', async () => {
  const { driver, disk, first, before } = await firing(11_000)
  driver.kill(first)
  const answered = Promise.withResolvers<void>()
  driver.answerGate = answered.promise
  const owner = driver.boot('B', disk)
  await driver.advance(11_000, 1_000)
  expect(driver.phases(owner)).toBe('claiming')
  driver.answerGate = undefined
  answered.resolve()
  await driver.advance(11_000, 1_000)
  expect(await takenForOthers()).toBe(before)
  expect(driver.phases(owner)).toBe('active')
  expect(owner.scheduler.queries.partitions()[0]?.lastReset).toBeNull()
  expect(driver.executions().map(({ runNo }) => runNo)).toEqual([1, 2, 3])
})
