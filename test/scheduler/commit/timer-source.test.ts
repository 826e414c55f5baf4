/** Selection of the due timers of a commit cycle, and failure isolation while others are due in each cycle. */
import { expect, it } from 'vitest'
import { FailureIsolation } from '../../../src/scheduler/commit/failure-isolation.ts'
import { TimerSource } from '../../../src/scheduler/commit/timer-source.ts'
import type { Shared } from '../../../src/scheduler/options/options.ts'
import { HeavyJobs, heavyBytesMin } from '../../../src/scheduler/state/job-loader.ts'
import type { TimeIndex } from '../../../src/scheduler/timers/time-index.ts'
import { type Timer, timerKind } from '../../../streams/state/keys.ts'
import { ManualClock } from '../../tools/manual-clock.ts'
import { memoryStore } from '../../tools/memory-store.ts'

const timer = (jobId: string): Timer => ({ jobId, kind: timerKind.fire, runNo: 0, dueAt: 1_000 })

/** As many light timers as requested are always due. The heavy one comes first, once. */
function endless(): TimerSource {
  const heavyJobs = new HeavyJobs()
  heavyJobs.set('heavy', heavyBytesMin)
  let count = 0
  const index = {
    nextDue: 1_000,
    take: async (_: number, max: number) => Array.from({ length: max }, () => timer(count++ === 0 ? 'heavy' : `light-${count}`)),
  }
  const shared = { leadMs: 0, leadMsMax: 0, clock: new ManualClock() } as Partial<Shared> as Shared
  return new TimerSource(index as unknown as TimeIndex, memoryStore(), shared, heavyJobs)
}

const idsOf = (timers: Timer[]): string[] => timers.map(({ jobId }) => jobId)

it('a heavy timer is part of the next batch, however many light ones are due', async () => {
  const timerSource = endless()
  const failureIsolation = { max: 8, timerNext: true, heavyNext: false }
  const first = await timerSource.take(2_000, false, 0, failureIsolation)
  const second = await timerSource.take(2_000, false, 0, failureIsolation)
  expect(idsOf([...first, ...second])).toContain('heavy')
  expect(second.length).toBe(8)
})

it('a batch takes a megabyte of heavy timers, or one, so light ones wait for no long commit', async () => {
  const heavyJobs = new HeavyJobs()
  const heavy = ['300', '300', '300', '300', '2000', '300'].map((kilobytes, at) => `${at}-${kilobytes}`)
  for (const id of heavy) heavyJobs.set(id, Number(id.split('-')[1]) * 1_000)
  const due = heavy.map(timer)
  const index = { nextDue: 1_000, take: async (_: number, max: number) => due.splice(0, max) }
  const shared = { leadMs: 0, leadMsMax: 0, clock: new ManualClock() } as Partial<Shared> as Shared
  const timerSource = new TimerSource(index as unknown as TimeIndex, memoryStore(), shared, heavyJobs)
  const turns: string[] = []
  for (let runCommitCycle = 0; runCommitCycle < 5; runCommitCycle++)
    turns.push(idsOf(await timerSource.take(2_000, false, 0)).join(' '))
  expect(turns).toEqual(['0-300 1-300 2-300', '3-300', '4-2000', '5-300', ''])
})

it('a heavy suspect is alone after a few cycles, though light timers are due in each of them', async () => {
  const timerSource = endless()
  const failureIsolation = new FailureIsolation(64)
  let turns = 0
  for (; turns < 40; turns++) {
    const timers = await timerSource.take(2_000, false, 0, failureIsolation)
    const names = idsOf(timers)
    if (!names.includes('heavy')) failureIsolation.succeeded(names)
    else {
      failureIsolation.failed(names, new Error('refused'))
      timerSource.defer(timers.map((each) => ({ timer: each, untilMs: 0 })))
    }
    if (failureIsolation.verdictOn('heavy') !== undefined) break
  }
  expect(failureIsolation.verdictOn('heavy')).toBeDefined()
  expect(turns).toBeLessThan(30)
})

it('timers that came after the failed batch do not clear those that were part of it', () => {
  const failureIsolation = new FailureIsolation(64)
  const names = Array.from({ length: 16 }, (_, index) => `${index}`)
  failureIsolation.failed(names, new Error('refused'))
  expect(failureIsolation.max).toBe(8)
  for (let runCommitCycle = 0; runCommitCycle < 10; runCommitCycle++)
    failureIsolation.succeeded(['x', 'y', 'z', `${runCommitCycle}-fresh`])
  expect(failureIsolation.max).toBe(8)
  failureIsolation.succeeded(names.slice(0, 12))
  expect(failureIsolation.max).toBe(2)
  failureIsolation.succeeded(names.slice(12))
  expect(failureIsolation.max).toBe(4)
})

it('a scan for bursts lets input records go first, but not for long', async () => {
  let scans = 0
  const store = memoryStore()
  const counting = {
    ...store,
    scan: (...of: Parameters<typeof store.scan>) => {
      scans++
      return store.scan(...of)
    },
  }
  const index = { nextDue: Number.POSITIVE_INFINITY, take: async () => [] }
  const shared = { leadMs: 100, leadMsMax: 10_000, clock: new ManualClock() } as Partial<Shared> as Shared
  const timerSource = new TimerSource(index as unknown as TimeIndex, counting, shared, new HeavyJobs())
  const seen: number[] = []
  for (const [now, inputsWait] of [
    [10_000, true],
    [10_499, true],
    [10_500, true],
    [11_000, true],
    [11_001, false],
    [11_501, true],
    [12_001, true],
  ] as const) {
    await timerSource.take(now, inputsWait, 0)
    seen.push(scans)
  }
  expect(seen).toEqual([0, 0, 1, 1, 2, 2, 3])
})
