/** Logs that were truncated, recreated, or expired unread: that is noticed and reported, and their present records count. */
import { expect, test } from 'vitest'
import type { PartitionStore } from '../../../src/ground/ports/store.ts'
import type { PartitionContext } from '../../../src/scheduler/partition/partition-context.ts'
import { drain } from '../../../src/scheduler/partition/takeover.ts'
import { type Disk, metrics } from '../../model/cluster/process.ts'
import { codecs, names } from '../../model/world.ts'
import { PartitionLog } from '../../tools/memory-log.ts'
import { type Dispatched, SchedulerDriver } from '../../tools/scheduler-driver.ts'

/** The topic is deleted and recreated, or an unclean election lost all of it. */
function recreateTopic(driver: SchedulerDriver, topic: string): void {
  const [place] = driver.log.allOf(topic)
  if (place === undefined) throw new Error(`There is no ${topic}.`)
  ;(place as { log: PartitionLog }).log = new PartitionLog()
}

async function resetsOf(topic: string, reason: string): Promise<number> {
  const { values } = await metrics.positionsReset.get()
  return values.find(({ labels }) => labels.topic === topic && labels.reason === reason)?.value ?? 0
}

const end = (driver: SchedulerDriver, run: Dispatched | undefined): void => {
  if (run === undefined) throw new Error('Nothing was dispatched.')
  driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
}

test('commands and reports count in topics that were recreated while their owner was away', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 60_000 }, target: { handler: 'x' }, startDeadlineMs: 10_000 })
  for (let index = 0; index < 20; index++) driver.command('j', { type: index % 2 ? 'RESUME' : 'PAUSE', commandId: `c${index}` })
  await driver.advance(61_000, 5_000)
  end(driver, driver.executions().at(-1))
  await driver.advance(500)
  expect(driver.state(first, 'j')).toMatchObject({ status: 'ACTIVE', succeeded: 1 })
  driver.kill(first)
  const before = [await resetsOf(names.commands, 'beyond-end'), await resetsOf(names.events, 'beyond-end')]
  recreateTopic(driver, names.commands)
  recreateTopic(driver, names.events)
  const successor = driver.boot('B', disk)
  await driver.advance(60_000, 5_000)
  expect(await resetsOf(names.commands, 'beyond-end')).toBe((before[0] ?? 0) + 1)
  expect(await resetsOf(names.events, 'beyond-end')).toBe((before[1] ?? 0) + 1)
  end(driver, driver.executions().at(-1))
  await driver.advance(500)
  expect(driver.state(successor, 'j')).toMatchObject({ succeeded: 2, failed: 0 })
  expect(driver.command('j', { type: 'PAUSE', commandId: 'urgent' })).toBe(0)
  await driver.advance(500)
  expect(driver.state(successor, 'j')).toMatchObject({ status: 'PAUSED' })
})

test('an active owner notices that a topic was truncated at the next read', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 60_000 }, target: { handler: 'x' } })
  for (let index = 0; index < 20; index++) driver.command('j', { type: index % 2 ? 'RESUME' : 'PAUSE', commandId: `c${index}` })
  await driver.advance(1_000, 250)
  const before = await resetsOf(names.commands, 'beyond-end')
  recreateTopic(driver, names.commands)
  driver.readFromBeginning(owner, names.commands)
  driver.command('j', { type: 'PAUSE', commandId: 'urgent' })
  await driver.advance(5_000, 250)
  expect(driver.phases(owner)).toBe('active')
  expect(await resetsOf(names.commands, 'beyond-end')).toBe(before + 1)
  expect(driver.state(owner, 'j')).toMatchObject({ status: 'PAUSED' })
})

test('records that expired before they were read are counted, and the later ones are read', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 3_600_000 }, target: { handler: 'x' } })
  driver.command('j', { type: 'PAUSE', commandId: 'c0' })
  await driver.advance(1_000, 250)
  driver.kill(first)
  for (let index = 1; index < 5; index++) driver.command('j', { type: 'PAUSE', commandId: `c${index}` })
  await driver.advance(1_000)
  const expiring = driver.time.nowMs
  await driver.advance(1_000)
  driver.command('j', { type: 'RESUME', commandId: 'late' })
  driver.log.expire(driver.log.at(names.commands, 0), expiring)
  const before = await resetsOf(names.commands, 'expired')
  const successor = driver.boot('B', disk)
  await driver.advance(1_000, 250)
  expect(await resetsOf(names.commands, 'expired')).toBe(before + 1)
  expect(driver.state(successor, 'j')).toMatchObject({ status: 'ACTIVE' })
  const [view] = successor.scheduler.queries.partitions()
  expect(view?.lastReset).toEqual({
    ...{ topic: names.commands, from: 1, to: 5, reason: 'expired', at: expect.any(Number) },
  })
})

test('a log in which exactly the read records have expired is the same log', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  driver.define('j', { schedule: { everyMs: 3_600_000 }, target: { handler: 'x' } })
  driver.command('j', { type: 'PAUSE', commandId: 'c0' })
  await driver.advance(1_000, 250)
  driver.kill(first)
  const commands = driver.log.at(names.commands, 0)
  driver.time.nowMs += 1_000
  driver.command('j', { type: 'RESUME', commandId: 'c1' })
  driver.log.expire(commands, driver.time.nowMs)
  expect(commands.earliest).toBe(1)
  const before = await resetsOf(names.commands, 'expired')
  const successor = driver.boot('B', disk)
  await driver.advance(1_000, 250)
  expect(await resetsOf(names.commands, 'expired')).toBe(before)
  expect(driver.state(successor, 'j')).toMatchObject({ status: 'ACTIVE' })
  expect(successor.scheduler.queries.partitions()[0]?.lastReset).toBeNull()
})

test('a definition that the changelog keeps survives a recreated jobs topic, and the first new one replaces it', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  const job = { schedule: { everyMs: 10_000 }, target: { handler: 'x' } }
  driver.define('filler', { ...job, schedule: { at: driver.time.nowMs + 1e9 } })
  driver.define('kept', { ...job, version: 5 })
  await driver.advance(1_000, 500)
  driver.define('kept', { ...job, version: 4, target: { handler: 'stale' } })
  await driver.advance(10_000, 500)
  for (const run of driver.executions()) end(driver, run)
  await driver.advance(1_000, 500)
  expect(driver.state(first, 'kept')).toMatchObject({ definitionKept: true, runNo: 1 })
  driver.kill(first)
  recreateTopic(driver, names.jobs)
  const successor = driver.boot('B', disk)
  await driver.advance(9_000, 500)
  expect(driver.executions().map(({ runNo, handler }) => [runNo, handler])).toEqual([
    [1, 'x'],
    [2, 'x'],
  ])
  driver.command('kept', { type: 'TRIGGER', commandId: 't1' })
  await driver.advance(1_000, 500)
  expect(driver.state(successor, 'kept')).toMatchObject({ definitionKept: true })
  expect(driver.define('kept', { ...job, version: 6, target: { handler: 'new' } })).toBe(0)
  for (const run of driver.executions().slice(1)) end(driver, run)
  await driver.advance(10_000, 500)
  expect(driver.executions().at(-1)).toMatchObject({ handler: 'new' })
})

test.each([true, false])(
  'definitions count in a recreated jobs topic; earlier runs are not forgotten (store kept: %s)',
  async (kept) => {
    const driver = new SchedulerDriver()
    const disk: Disk = new Map()
    const first = driver.boot('A', disk)
    await driver.settle()
    const job = { schedule: { everyMs: 10_000 }, target: { handler: 'x' } }
    for (let index = 0; index < 30; index++)
      driver.define(`filler-${index}`, { ...job, schedule: { at: driver.time.nowMs + 1e9 } })
    driver.define('again', job)
    driver.define('gone', job)
    await driver.advance(11_000, 1_000)
    for (const run of driver.executions()) end(driver, run)
    await driver.advance(20_000, 1_000)
    const runNo = driver.state(first, 'again')?.runNo ?? 0
    expect(runNo).toBe(3)
    driver.kill(first)
    const before = await resetsOf(names.jobs, 'beyond-end')
    recreateTopic(driver, names.jobs)
    // One before the takeover, at an offset far below the offset of the old definition, and one after it.
    driver.define('again', { ...job, target: { handler: 'y' } })
    const successor = driver.boot('B', kept ? disk : new Map())
    await driver.advance(1_000, 250)
    driver.define('new', job)
    await driver.advance(25_000, 1_000)
    expect(driver.phases(successor)).toBe('active')
    expect(await resetsOf(names.jobs, 'beyond-end')).toBe(before + 1)
    const since = driver.executions().filter(({ handler, jobId }) => handler === 'y' || jobId === 'new')
    expect(since.filter(({ jobId }) => jobId === 'again').map((run) => run.runNo)).toEqual([runNo + 1, runNo + 2])
    expect(since.filter(({ jobId }) => jobId === 'new')).toHaveLength(2)
    // Its definition is lost, so it does not fire. Sent again, it catches up on what was missed and continues its run numbers.
    expect(driver.executions().filter(({ jobId }) => jobId === 'gone')).toHaveLength(3)
    driver.define('gone', job)
    await driver.advance(11_000, 1_000)
    expect(
      driver
        .executions()
        .filter(({ jobId }) => jobId === 'gone')
        .map((run) => run.runNo),
    ).toEqual([1, 2, 3, 4, 5])
  },
)

test('an owner that reads no reports notices by the end of their log that it is another one', async () => {
  const driver = new SchedulerDriver()
  const owner = driver.boot('A')
  await driver.settle()
  const job = {
    schedule: { at: driver.time.nowMs + 1_000 },
    target: { handler: 'x' },
    leaseMs: 30_000,
    retry: { maxAttempts: 3 },
  }
  driver.define('j', job)
  await driver.advance(1_100, 100)
  const run = driver.executions()[0]
  if (run === undefined) throw new Error('Nothing was dispatched.')
  for (let index = 0; index < 20; index++)
    driver.report(run, index === 0 ? 'STARTED' : 'HEARTBEAT', { startedAt: driver.time.nowMs })
  await driver.advance(1_000)
  const before = await resetsOf(names.events, 'beyond-end')
  recreateTopic(driver, names.events)
  // The success is in the recreated log, and no fetch has returned it yet.
  driver.report(run, 'SUCCEEDED', { startedAt: driver.time.nowMs })
  await driver.advance(90_000, 500)
  expect(await resetsOf(names.events, 'beyond-end')).toBe(before + 1)
  expect(driver.executions()).toHaveLength(1)
  expect(driver.state(owner, 'j')).toMatchObject({ succeeded: 1, failed: 0, active: [] })
})

/** A partition that drains commands: 300 are applied and 500 are in the log, but no fetch returns any. `later`: the log after that. */
function draining(later: { earliest: number; next: number }): { drained: Promise<void>; naps: () => number } {
  let steadyMs = 0
  let naps = 0
  const clock = { nowMs: () => steadyMs, steadyMs: () => steadyMs }
  const offsets = async (topic: string) => {
    if (topic === names.jobs) return [{ partition: 0, earliest: 0, next: 0 }]
    return [{ partition: 0, ...(naps === 0 ? { earliest: 0, next: 500 } : later) }]
  }
  const nothing = { scan: async () => [], get: async () => [], apply: async () => undefined } as unknown as PartitionStore
  const own = {
    shared: { codecs, names, clock, admin: { offsets } },
    partition: 0,
    restoreProgress: {},
    input: {
      reader: { open: () => undefined, next: () => 300, reach: () => 300, nudge: () => undefined },
      positions: {
        applied: { jobs: 0, commands: 300, events: 300 },
        hasApplied: (_: string, end: number) => end <= 300,
      },
    },
    enter: () => undefined,
    runCommitCycle: async () => ({ batchResult: 0 }),
    logPosition: async () => undefined,
    local: { store: nothing },
    life: {
      nap: async () => {
        steadyMs += 1_000
        if (++naps > 100) throw new Error('It waits for ever.')
      },
    },
  } as unknown as PartitionContext
  // Definitions are read to their end, whatever happens with commands.
  const partitionReader = own.input.reader as { next: (source: string) => number }
  partitionReader.next = (source) => (source === 'jobs' ? 0 : 300)
  const ends = {
    jobs: { earliest: 0, next: 0 },
    commands: { earliest: 0, next: 500 },
    events: { earliest: 0, next: 300 },
    askedAtMs: 0,
  }
  return { drained: drain(own, ends), naps: () => naps }
}

test('commands that expire, or whose topic is recreated, during a drain delay nothing', async () => {
  const expired = draining({ earliest: 500, next: 500 })
  await expired.drained
  expect(expired.naps()).toBeLessThan(5)
  await expect(draining({ earliest: 0, next: 0 }).drained).rejects.toThrow(/ends at 0 and was read up to 300/)
})

test('a log of definitions that is truncated during a drain below what is decided is noticed', async () => {
  const nothing = { get: async () => undefined, scan: async () => [] } as unknown as PartitionStore
  let steadyMs = 0
  let naps = 0
  const range = { partition: 0, earliest: 0, next: 10 }
  const own = {
    shared: {
      names,
      codecs,
      clock: { steadyMs: () => steadyMs, nowMs: () => steadyMs },
      admin: { offsets: async () => [range] },
    },
    partition: 0,
    restoreProgress: {},
    // An old copy: it reads from 5 on what others have decided up to 20.
    input: {
      reader: { open: () => undefined, next: () => 5, reach: () => 5, nudge: () => undefined },
      positions: {
        applied: { jobs: 5, commands: 0, events: 0 },
        logged: { jobsOffset: 20 },
        hasApplied: () => false,
      },
    },
    enter: () => undefined,
    runCommitCycle: async () => ({ appliedCount: 0 }),
    local: { store: nothing },
    life: {
      nap: async () => {
        steadyMs += 1_000
        if (++naps > 100) throw new Error('It waits for ever.')
      },
    },
  } as unknown as PartitionContext
  const none = { earliest: 0, next: 0 }
  const ends = { jobs: { earliest: 0, next: 20 }, commands: none, events: none, askedAtMs: 0 }
  await expect(drain(own, ends)).rejects.toThrow(/jobs\/0 ends at 10 and was read up to 20/)
})

test('the very first definition of the old log does not count any more either', async () => {
  const driver = new SchedulerDriver()
  const disk: Disk = new Map()
  const first = driver.boot('A', disk)
  await driver.settle()
  const job = { schedule: { everyMs: 10_000 }, target: { handler: 'x' } }
  expect(driver.define('first', job)).toBe(0)
  for (let index = 0; index < 5; index++) driver.define(`filler-${index}`, { ...job, schedule: { at: driver.time.nowMs + 1e9 } })
  await driver.advance(21_000, 1_000)
  for (const run of driver.executions()) end(driver, run)
  await driver.advance(1_000)
  driver.kill(first)
  recreateTopic(driver, names.jobs)
  const successor = driver.boot('B', disk)
  // Its definition is lost: it does not fire, and its state stays.
  await driver.advance(30_000, 1_000)
  expect(driver.executions()).toHaveLength(2)
  expect(driver.state(successor, 'first')).toMatchObject({ runNo: 2, succeeded: 2 })
  expect(driver.define('first', { ...job, schedule: { everyMs: 5_000 } })).toBe(0)
  const since = driver.nowMs
  await driver.advance(26_000, 500)
  const later = driver.executions().filter(({ at }) => at > since)
  expect(later[0]).toMatchObject({ runNo: 3 })
  expect(later.length).toBeGreaterThanOrEqual(5)
})

test('a drain whose owner may not decide by its clock waits for the clock, and not in a loop', async () => {
  let batchResult = 0
  const naps: number[] = []
  const clock = { nowMs: () => 60_000 + naps.length, steadyMs: () => 60_000 + naps.length }
  const offsets = async (topic: string) => [{ partition: 0, earliest: 0, next: topic === names.jobs ? 0 : 5 }]
  const nothing = { scan: async () => [], get: async () => [], apply: async () => undefined } as unknown as PartitionStore
  const own = {
    shared: { codecs, names, clock, admin: { offsets } },
    partition: 0,
    restoreProgress: {},
    input: {
      reader: {
        open: () => undefined,
        next: (source: string) => (source === 'jobs' ? 0 : 5),
        reach: () => 5,
        nudge: () => undefined,
      },
      positions: {
        applied: { jobs: 0, commands: 0, events: 0 },
        hasApplied: (_: string, end: number) => end <= batchResult,
      },
    },
    enter: () => undefined,
    runCommitCycle: async () => ({ batchResult }),
    logPosition: async () => undefined,
    local: { store: nothing },
    life: {
      nap: async (untilMs: number) => {
        naps.push(untilMs)
        if (untilMs !== Number.POSITIVE_INFINITY) clock.steadyMs = () => 70_000
        else batchResult = 5
        if (naps.length > 5) throw new Error('It looks again and again.')
      },
    },
  } as unknown as PartitionContext
  const ends = {
    jobs: { earliest: 0, next: 0 },
    commands: { earliest: 0, next: 5 },
    events: { earliest: 0, next: 5 },
    askedAtMs: 60_000,
  }
  await drain(own, ends)
  expect(naps).toEqual([Number.POSITIVE_INFINITY])
})
