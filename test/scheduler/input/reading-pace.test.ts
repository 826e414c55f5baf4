/** When the next fetch waits, and what ends that. */
import { expect, it } from 'vitest'
import { ReadingPace } from '../../../src/scheduler/input/partition-input.ts'
import { ManualClock } from '../../tools/manual-clock.ts'

interface Paced {
  pace: ReadingPace
  clock: ManualClock
  /** Asks for the next records; `allowed` grows when they may be fetched. */
  ask: () => void
  allowed: () => number
}

function paced(paceMs = 10): Paced {
  const clock = new ManualClock()
  const pace = new ReadingPace(clock, paceMs)
  let allowed = 0
  const ask = (): void => void pace.next().then(() => allowed++)
  return { pace, clock, ask, allowed: () => allowed }
}

it('the next fetch waits for its pace, and no longer', async () => {
  const { clock, ask, allowed } = paced()
  ask()
  await clock.advance(9)
  expect(allowed()).toBe(0)
  await clock.advance(1)
  expect(allowed()).toBe(1)
  expect(clock.armed).toBe(0)
})

it('all partitions that wait go on at a hurry, and their timers end', async () => {
  const { pace, clock, ask, allowed } = paced()
  ask()
  ask()
  await clock.advance(1)
  pace.hurry()
  expect(clock.armed).toBe(0)
  await clock.advance(0)
  expect(allowed()).toBe(2)
})

it('nothing waits within a second of a hurry', async () => {
  const { pace, clock, ask, allowed } = paced()
  pace.hurry()
  await clock.advance(999)
  ask()
  await clock.advance(0)
  expect(allowed()).toBe(1)
  await clock.advance(1)
  ask()
  await clock.advance(0)
  expect(allowed()).toBe(1)
  await clock.advance(10)
  expect(allowed()).toBe(2)
})

it('a wall clock that is set back delays the next fetch no longer', async () => {
  const { clock, ask, allowed } = paced()
  ask()
  clock.skewMs = -3_600_000
  await clock.advance(10)
  expect(allowed()).toBe(1)
})

it('without a pace nothing ever waits', async () => {
  const { clock, ask, allowed } = paced(0)
  ask()
  await clock.advance(0)
  expect(allowed()).toBe(1)
  expect(clock.armed).toBe(0)
})
