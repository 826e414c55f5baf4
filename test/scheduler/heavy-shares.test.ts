/** Limits that the partitions of a process share, so that memory does not grow with their number. */
import { expect, it } from 'vitest'
import { TimerSource } from '../../src/scheduler/commit/timer-source.ts'
import { inputBufferBytesMax, inputBufferBytesOf } from '../../src/scheduler/input/input-buffer.ts'
import type { Shared } from '../../src/scheduler/options/options.ts'
import { HeavyJobs, heavyBytesMin } from '../../src/scheduler/state/job-loader.ts'
import { HeavyTimerSlots } from '../../src/scheduler/timers/heavy-timer-slots.ts'
import type { TimeIndex } from '../../src/scheduler/timers/time-index.ts'
import { type Timer, timerKind } from '../../streams/state/keys.ts'
import { ManualClock } from '../tools/manual-clock.ts'
import { memoryStore } from '../tools/memory-store.ts'

const at = { nowMs: 0 }
const turns = (max?: number) => new HeavyTimerSlots({ steadyMs: () => at.nowMs }, max)
const [a, b, c] = [{}, {}, {}]
const nobody = (): void => {}

it('two partitions at a time take heavy timers', () => {
  const heavy = turns()
  expect([a, b, c].map((who) => heavy.begin(who, nobody))).toEqual([true, true, false])
  heavy.done(a)
  expect(heavy.begin(c, nobody)).toBe(true)
})

it('if only one may take them, the others come in their order', () => {
  const heavy = turns(1)
  const woken: string[] = []
  expect(heavy.begin(a, nobody)).toBe(true)
  expect(heavy.begin(b, () => woken.push('b'))).toBe(false)
  expect(heavy.begin(c, () => woken.push('c'))).toBe(false)
  expect(heavy.begin(b, () => woken.push('b'))).toBe(false)
  expect(woken).toEqual([])
  heavy.done(a)
  expect(woken).toEqual(['b'])
  // A partition that was just served does not come before one that waits.
  expect(heavy.begin(a, () => woken.push('a'))).toBe(false)
  expect(heavy.begin(b, nobody)).toBe(true)
  heavy.done(b)
  expect(heavy.begin(c, nobody)).toBe(true)
  heavy.done(c)
  expect(woken).toEqual(['b', 'c', 'a'])
})

it('a partition that closes delays no other, nor does one that does not come when it is woken', () => {
  const heavy = turns(1)
  const woken: string[] = []
  expect(heavy.begin(a, nobody)).toBe(true)
  expect(heavy.begin(b, () => woken.push('b'))).toBe(false)
  expect(heavy.begin(c, () => woken.push('c'))).toBe(false)
  heavy.leave(a)
  heavy.leave(b)
  expect(woken).toEqual(['b', 'c'])
  expect(heavy.begin(a, nobody)).toBe(false)
  at.nowMs += 1_000
  expect(heavy.begin(a, nobody)).toBe(true)
})

it('a partition whose heavy timers wait takes its light ones, and sleeps until it is woken', async () => {
  const timer = (jobId: string, dueAt = 1_000): Timer => ({ jobId, kind: timerKind.fire, runNo: 0, dueAt })
  const heavyJobs = new HeavyJobs()
  heavyJobs.set('heavy', heavyBytesMin)
  const batches = [[timer('heavy'), timer('one')], [timer('two')]]
  const index = { nextDue: Number.POSITIVE_INFINITY, take: async () => batches.shift() ?? [] }
  const timerSource = new TimerSource(
    index as unknown as TimeIndex,
    memoryStore(),
    { leadMs: 0, leadMsMax: 0, clock: new ManualClock() } as Partial<Shared> as Shared,
    heavyJobs,
  )
  const usual = { max: 100, timerNext: true, heavyNext: false }
  const take = async (mayTakeHeavy: boolean) =>
    (await timerSource.take(2_000, false, 0, usual, () => mayTakeHeavy)).map(({ jobId }) => jobId)
  expect(await take(false)).toEqual(['one'])
  expect(await take(false)).toEqual(['two'])
  expect(timerSource.wakeAt(2_000)).toBe(Number.POSITIVE_INFINITY)
  expect(timerSource.dueAt).toBe(1_000)
  expect(await take(true)).toEqual(['heavy'])
})

it('an input buffer has its share of the common limit, within bounds', () => {
  expect(inputBufferBytesOf(0)).toBe(inputBufferBytesMax)
  expect(inputBufferBytesOf(1)).toBe(inputBufferBytesMax)
  expect(inputBufferBytesOf(4)).toBe(4 * 1024 * 1024)
  expect(inputBufferBytesOf(64)).toBe(1024 * 1024)
})
