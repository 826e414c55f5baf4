import fc from 'fast-check'
import { expect, it } from 'vitest'
import { TimerQueue } from '../../../src/worker/executor/run/timer-queue.ts'
import { ManualClock } from '../../tools/manual-clock.ts'

it('delivers every item at its time, in order, none that was deleted, with one timer', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ inMs: fc.nat(200), deleted: fc.boolean(), afterMs: fc.nat(20) }), { maxLength: 60 }),
      async (items) => {
        const clock = new ManualClock(0)
        const seen: { no: number; atMs: number }[] = []
        const timerQueue = new TimerQueue<{ no: number; atMs: number }>(clock, (item) => {
          seen.push({ no: item.no, atMs: clock.nowMs() })
        })
        const expected: { no: number; atMs: number }[] = []
        for (const [no, { inMs, deleted, afterMs }] of items.entries()) {
          const item = { no, atMs: clock.nowMs() + 1 + inMs }
          timerQueue.add(item.atMs, item)
          if (deleted) timerQueue.delete(item.atMs, item)
          else expected.push(item)
          expect(clock.armed).toBeLessThanOrEqual(1)
          if (no % 10 === 9) await clock.advance(afterMs)
        }
        await clock.advance(1_000)
        expect(seen).toEqual(expected.sort((a, b) => a.atMs - b.atMs || a.no - b.no))
        expect(clock.armed).toBe(0)
      },
    ),
    { numRuns: 30 },
  )
})

it('accepts items during a delivery', async () => {
  const clock = new ManualClock(0)
  const seen: number[] = []
  const timerQueue: TimerQueue<number> = new TimerQueue(clock, (item) => {
    seen.push(clock.nowMs())
    if (item > 0) timerQueue.add(clock.nowMs() + 10, item - 1)
  })
  timerQueue.add(5, 3)
  await clock.advance(100)
  expect(seen).toEqual([5, 15, 25, 35])
})
