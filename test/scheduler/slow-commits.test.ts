/** Commit cycles that take longer than the usual lead: runs are dispatched earlier, so that they are in the log before they are due. */
import { expect, it } from 'vitest'
import type { Clock } from '../../src/ground/clock/index.ts'
import { TimerSource } from '../../src/scheduler/commit/timer-source.ts'
import type { Shared } from '../../src/scheduler/options/options.ts'
import { HeavyJobs, heavyBytesMin } from '../../src/scheduler/state/job-loader.ts'
import { TimeIndex } from '../../src/scheduler/timers/time-index.ts'
import { type Timer, timerKey, timerKind } from '../../streams/state/keys.ts'
import { leadMs } from '../model/world.ts'
import { memoryStore } from '../tools/memory-store.ts'
import { beginMs, SchedulerDriver } from '../tools/scheduler-driver.ts'

const everyMs = 37
const target = { handler: 'x' }

/** How long before its due time each of the jobs of 20 seconds is in the log, when each commit takes this long. */
async function earlinessMs(commitMs: number): Promise<number[]> {
  const driver = new SchedulerDriver(1, 'owners', { leadMsMax: 10_000 })
  driver.boot('A')
  await driver.settle()
  const append = driver.log.append.bind(driver.log)
  driver.log.append = (records, transaction) => {
    if (transaction !== undefined) driver.time.nowMs += commitMs
    return append(records, transaction)
  }
  const from = beginMs + 20_000
  for (let at = from; at < from + 20_000; at += everyMs) driver.define(`job-${at}`, { schedule: { at }, target })
  await driver.advance(45_000, 20)
  const executions = driver.executions()
  expect(new Set(executions.map(({ jobId }) => jobId)).size).toBe(Math.ceil(20_000 / everyMs))
  // The first ones come before the owner knows how long its commits take.
  return executions.filter(({ dueAt }) => dueAt >= from + 5_000).map(({ at, dueAt }) => dueAt - beginMs - at)
}

it.each([60, 150, 400, 1_000])('runs are in the log before they are due when each commit takes %i ms', async (commitMs) => {
  const early = await earlinessMs(commitMs)
  expect(Math.min(...early)).toBeGreaterThanOrEqual(0)
  // No earlier than they have to be: one lead, three cycles and the width of a bucket.
  expect(Math.max(...early)).toBeLessThanOrEqual(leadMs + 3 * commitMs + 100)
})

it('nothing is dispatched earlier than one lead while commits are quick', async () => {
  const early = await earlinessMs(5)
  expect(Math.min(...early)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...early)).toBeLessThanOrEqual(leadMs)
})

const timer = (jobId: string, dueAt: number): Timer => ({ jobId, kind: timerKind.fire, runNo: 0, dueAt })

async function slowScheduler(timers: Timer[], heavyJobs = new HeavyJobs(), steadyMs = (): number => 0) {
  const store = memoryStore()
  const clock = { steadyMs } as Clock
  const shared = { leadMs: 100, leadMsMax: 10_000, clock } as Shared
  const timerSource = new TimerSource(new TimeIndex(store), store, shared, heavyJobs)
  const write = async (written: Timer[]): Promise<void> => {
    await store.apply(written.map((each) => ({ key: timerKey(each), value: Buffer.alloc(0) })))
    for (const each of written) timerSource.scheduled(each)
  }
  await write(timers)
  // Their mean is near 300 ms then, and the lead three of them and a half of the usual lead.
  for (let cycle = 0; cycle < 20; cycle++) timerSource.committedAfter(300, 0)
  return { timerSource, write }
}

it('the lead is long for as long as commits are', async () => {
  const { timerSource } = await slowScheduler([timer('a', 10_000)])
  expect(await timerSource.take(9_000, false, 0)).toEqual([])
  const wakeAt = timerSource.wakeAt(9_000)
  expect(wakeAt).toBeGreaterThanOrEqual(10_000 - 100 - 850)
  expect(wakeAt).toBeLessThanOrEqual(10_000 - 100 - 840)
  expect(await timerSource.take(wakeAt, false, 0)).toEqual([timer('a', 10_000)])
  const { timerSource: quickAgain } = await slowScheduler([timer('a', 10_000)])
  for (let cycle = 0; cycle < 20; cycle++) quickAgain.committedAfter(5, 0)
  expect(await quickAgain.take(9_899, false, 0)).toEqual([])
  expect(await quickAgain.take(9_900, false, 0)).toEqual([timer('a', 10_000)])
})

/** Timers that are written after their bucket was read, and so many that the bucket is read again from its beginning. */
const addedLater = (): Timer[] => Array.from({ length: 300 }, (_, index) => timer(`other-${index}`, 10_050))

it('a timer that waits for its time is not taken again when others are written beside it', async () => {
  const limited = timer('limited', 10_000)
  const { timerSource, write } = await slowScheduler([limited])
  expect(await timerSource.take(9_100, false, 0)).toEqual([limited])
  timerSource.defer([{ timer: limited, untilMs: 9_900 }])
  await write(addedLater())
  expect(new Set(await timerSource.take(9_110, false, 0))).toEqual(new Set(addedLater()))
  await write([timer('last', 10_050)])
  expect(await timerSource.take(9_120, false, 0)).toEqual([timer('last', 10_050)])
  expect(await timerSource.take(9_900, false, 0)).toContainEqual(limited)
})

it('a timer of a heavy job is not taken again either, and comes once', async () => {
  const heavyJobs = new HeavyJobs()
  heavyJobs.set('heavy', heavyBytesMin)
  const heavy = timer('heavy', 10_000)
  const { timerSource, write } = await slowScheduler([heavy], heavyJobs)
  expect(await timerSource.take(9_100, false, 0)).toEqual([])
  await write(addedLater())
  expect(new Set(await timerSource.take(9_110, false, 0))).toEqual(new Set(addedLater()))
  expect(await timerSource.take(9_900, false, 0)).toContainEqual(heavy)
  expect(await timerSource.take(9_910, false, 0)).not.toContainEqual(heavy)
})

it('slow commits of the past are forgotten while nothing is committed', async () => {
  let steadyMs = 0
  const { timerSource } = await slowScheduler([timer('a', 10_000)], new HeavyJobs(), () => steadyMs)
  steadyMs = 15_000
  // Half of 300 ms: three cycles and a half of the usual lead are 400 ms more than it.
  await timerSource.take(9_000, false, 0)
  expect(timerSource.wakeAt(9_000)).toBeGreaterThanOrEqual(10_000 - 100 - 400)
  expect(timerSource.wakeAt(9_000)).toBeLessThanOrEqual(10_000 - 100 - 390)
  steadyMs = 120_000
  expect(await timerSource.take(9_899, false, 0)).toEqual([])
  expect(await timerSource.take(9_900, false, 0)).toEqual([timer('a', 10_000)])
})
