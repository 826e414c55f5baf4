/** Limits that jobs share, across a restart and each kind of takeover: the starts given under a rateLimit, and the slots held under a concurrencyKey. */
import { describe, expect, it } from 'vitest'
import type { Disk, Process } from '../model/cluster/process.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const hourMs = 3_600_000

/** From the death of the owner to the next one. */
const ways = {
  'a restart with its store': async (driver: SchedulerDriver, disk: Disk) => driver.boot('B', disk),
  'a takeover without a store': async (driver: SchedulerDriver) => driver.boot('B'),
  'a takeover by a standby': async (driver: SchedulerDriver) => driver.processes[1] as Process,
}
const wayNames = Object.keys(ways) as (keyof typeof ways)[]

/** An owner that does `before` and dies, and the owner after it. `awayMs`: time without any owner. */
async function takenOver(way: keyof typeof ways, before: (driver: SchedulerDriver) => Promise<void>, awayMs = 0) {
  const isFollowed = way === 'a takeover by a standby'
  const driver = new SchedulerDriver(1, isFollowed ? 'standbys' : 'owners')
  const disk: Disk = new Map()
  const owner = driver.boot('A', disk)
  if (isFollowed) driver.boot('B')
  await driver.settle()
  await before(driver)
  driver.kill(owner)
  driver.time.nowMs += awayMs
  const successor = await ways[way](driver, disk)
  await driver.advance(5_000, 500)
  expect(driver.phases(successor)).toBe('active')
  return { driver, successor }
}

describe.each(wayNames)('after %s', (way) => {
  it('a window has no more starts than its limit, and each comes as soon as it may', async () => {
    const rated = (second: number) => ({
      ...{ schedule: { at: beginMs + second * 1_000 }, target: { handler: 'x' }, startDeadlineMs: 300_000 },
      rateLimit: { key: 'r', limit: 3, perMs: 100_000 },
    })
    const { driver } = await takenOver(way, async (first) => {
      for (const second of [2, 3, 5]) first.define(`early-${second}`, rated(second))
      await first.advance(8_000, 500)
      expect(first.executions()).toHaveLength(3)
    })
    for (const second of [6, 7, 8, 9]) driver.define(`late-${second}`, rated(second))
    await driver.advance(205_000, 2_000)
    const starts = driver.executions().map(({ dueAt }) => (dueAt - beginMs) / 1_000)
    expect(starts.toSorted((a, b) => a - b)).toEqual([2, 3, 5, 102, 103, 105, 202])
  })

  it('a key has no more runs than slots, and a slot that is freed goes to who waits longest', async () => {
    const keyed = { target: { handler: 'x' }, leaseMs: 300_000, concurrencyKey: 'k', concurrencyLimit: 2 }
    const { driver } = await takenOver(way, async (first) => {
      for (const id of ['a', 'b']) first.define(id, { ...keyed, schedule: { at: beginMs + 1_000 } })
      await first.advance(3_000, 500)
      for (const run of first.executions()) first.report(run, 'STARTED', { startedAt: first.time.nowMs })
      first.define('waits', { ...keyed, schedule: { at: first.time.nowMs } })
      await first.advance(1_000, 500)
    })
    for (const id of ['c', 'd']) driver.define(id, { ...keyed, schedule: { at: driver.time.nowMs } })
    await driver.advance(5_000, 500)
    expect(driver.executions().map(({ jobId }) => jobId)).toEqual(['a', 'b'])
    const [first] = driver.executions()
    if (first !== undefined) driver.report(first, 'SUCCEEDED', { startedAt: driver.time.nowMs })
    await driver.advance(5_000, 500)
    expect(driver.executions().map(({ jobId }) => jobId)).toEqual(['a', 'b', 'waits'])
  })
})

it.each(wayNames.filter((way) => way !== 'a takeover by a standby'))(
  'a start is not forgotten before the end of its window, however long nobody fires: %s',
  async (way) => {
    const rated = (at: number) => ({
      ...{ schedule: { at }, target: { handler: 'x' }, startDeadlineMs: 6 * hourMs },
      rateLimit: { key: 'r', limit: 1, perMs: 5 * hourMs },
    })
    const { driver, successor } = await takenOver(
      way,
      async (first) => {
        first.define('early', rated(beginMs + 1_000))
        await first.advance(3_000, 500)
      },
      4 * hourMs,
    )
    driver.define('late', rated(driver.time.nowMs))
    await driver.advance(3_000, 500)
    expect(driver.executions()).toHaveLength(1)
    expect(driver.state(successor, 'late')?.active).toMatchObject([
      { status: 'WAITING', waitsFor: 'RATE', dueAt: beginMs + 1_000 + 5 * hourMs },
    ])
  },
)
