/** Commit cycles that take longer than the usual lead: runs are dispatched earlier, so that they are in the log before they are due. */
import { expect, it } from 'vitest'
import { TimerSource } from '../../src/scheduler/commit/timer-source.ts'
import type { Shared } from '../../src/scheduler/options/options.ts'
import { HeavyJobs, heavyBytesMin } from '../../src/scheduler/state/heavy-jobs.ts'
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

async function slowSource(timers: Timer[], heavyJobs = new HeavyJobs()): Promise<TimerSource> {
  const store = memoryStore()
  await store.apply(timers.map((each) => ({ key: timerKey(each), value: Buffer.alloc(0) })))
  const shared = { leadMs: 100, leadMsMax: 10_000 } as Shared
  const timerSource = new TimerSource(new TimeIndex(store), store, shared, heavyJobs)
  // Their mean is near 300 ms then, and the lead three of them and a half of the usual lead.
  for (let cycle = 0; cycle < 20; cycle++) timerSource.committedAfter(300)
  return timerSource
}

it('the lead is long for as long as commits are', async () => {
  const timerSource = await slowSource([timer('a', 10_000)])
  expect(await timerSource.take(9_000, false, 0)).toEqual([])
  const wakeAt = timerSource.wakeAt(9_000)
  expect(wakeAt).toBeGreaterThanOrEqual(10_000 - 100 - 850)
  expect(wakeAt).toBeLessThanOrEqual(10_000 - 100 - 840)
  expect(await timerSource.take(wakeAt, false, 0)).toEqual([timer('a', 10_000)])
  const quickAgain = await slowSource([timer('a', 10_000)])
  for (let cycle = 0; cycle < 20; cycle++) quickAgain.committedAfter(5)
  expect(await quickAgain.take(9_899, false, 0)).toEqual([])
  expect(await quickAgain.take(9_900, false, 0)).toEqual([timer('a', 10_000)])
})

it('a timer that waits for its time is not taken again when another is written beside it', async () => {
  const [limited, other] = [timer('limited', 10_000), timer('other', 10_050)]
  const timerSource = await slowSource([limited])
  expect(await timerSource.take(9_100, false, 0)).toEqual([limited])
  timerSource.defer([{ timer: limited, untilMs: 9_900 }])
  timerSource.scheduled(other)
  expect(await timerSource.take(9_110, false, 0)).toEqual([])
  expect(await timerSource.take(9_900, false, 0)).toEqual([limited])
})

it('a timer of a heavy job is not taken again either, and comes once', async () => {
  const heavyJobs = new HeavyJobs()
  heavyJobs.set('heavy', heavyBytesMin)
  const [heavy, other] = [timer('heavy', 10_000), timer('other', 10_050)]
  const timerSource = await slowSource([heavy], heavyJobs)
  expect(await timerSource.take(9_100, false, 0)).toEqual([])
  timerSource.scheduled(other)
  expect(await timerSource.take(9_110, false, 0)).toEqual([])
  expect(await timerSource.take(9_900, false, 0)).toEqual([heavy])
  expect(await timerSource.take(9_910, false, 0)).toEqual([])
})
