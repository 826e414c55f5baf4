/** The delay of a group member that joins again. */
import { expect, test } from 'vitest'
import { RejoinTimer } from '../../src/ground/concurrency/waits.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'

test('the delay doubles with each failure up to the maximum, and is the first one again after a join', async () => {
  const time = new VirtualTime()
  const clock = new ManualClock(time)
  const timer = new RejoinTimer(clock, 1_000, 5_000)
  const delays: number[] = []
  const failures: unknown[] = []
  for (let count = 0; count < 5; count++) {
    const { delayMs } = timer
    delays.push(delayMs)
    timer.start(
      () => Promise.reject(new Error(`join ${count}`)),
      (error) => failures.push((error as Error).message),
    )
    await time.advance(delayMs)
  }
  expect(delays).toEqual([1_000, 2_000, 4_000, 5_000, 5_000])
  expect(failures).toEqual(['join 0', 'join 1', 'join 2', 'join 3', 'join 4'])
  timer.reset()
  expect(timer.delayMs).toBe(1_000)
})

test('a planned join that is cancelled never begins', async () => {
  const time = new VirtualTime()
  const clock = new ManualClock(time)
  const timer = new RejoinTimer(clock, 1_000)
  let joins = 0
  timer.start(
    async () => void joins++,
    () => undefined,
  )
  timer.cancel()
  await time.advance(10_000)
  expect(joins).toBe(0)
})
