import { describe, expect, it } from 'vitest'
import { Freshness, lookMs } from '../../src/scheduler/freshness.ts'
import { unusable } from '../../src/scheduler/local-record.ts'
import { VirtualTime } from '../tools/manual-clock.ts'

const dayMs = 86_400_000

function begun(savedAtMs?: number) {
  const time = new VirtualTime()
  const clock = { nowMs: () => time.nowMs, steadyMs: () => time.nowMs, at: () => () => undefined }
  const freshness = new Freshness(clock, 7 * dayMs)
  freshness.begin(savedAtMs)
  const sleep = (forMs: number): void => {
    time.nowMs += forMs
  }
  /** Awake, so that it looks at the clock as often as a partition does. */
  const live = (forMs: number): void => {
    for (let leftMs = forMs; leftMs > 0; leftMs -= lookMs) {
      sleep(Math.min(leftMs, lookMs))
      freshness.check()
    }
  }
  return { freshness, live, sleep, now: () => time.nowMs }
}

describe('a store', () => {
  it('says of itself what it said when it was opened, until all of its logs are read', () => {
    const { freshness, live, now } = begun(5)
    live(3 * dayMs)
    expect(freshness.savedAtMs(false)).toBe(5)
    expect(freshness.savedAtMs(true)).toBe(now())
    const caughtUpAt = now()
    live(dayMs)
    expect(freshness.savedAtMs(false)).toBe(caughtUpAt)
  })
  it('that is new lacks nothing that is deleted from then on', () => {
    const { freshness, live, now } = begun()
    const openedAt = now()
    live(dayMs)
    expect(freshness.savedAtMs(false)).toBe(openedAt)
  })
  it('that is idle says now and then that it is up to date', () => {
    const { freshness, live } = begun()
    freshness.said()
    expect(freshness.isDue).toBe(false)
    live(lookMs)
    // What it may say is asked with each turn, also where nothing is written.
    freshness.savedAtMs(true)
    expect(freshness.isDue).toBe(true)
    freshness.said()
    expect(freshness.isDue).toBe(false)
  })
  it('may be idle for years', () => {
    expect(() => begun().live(800 * dayMs)).not.toThrow()
  })
})

describe('a process that slept', () => {
  it.each([5, 6])('for %i days goes on only where no tombstone can have come and gone', (days) => {
    const { freshness, sleep } = begun()
    sleep(days * dayMs)
    if (days === 5) expect(() => freshness.check()).not.toThrow()
    else expect(() => freshness.check()).toThrow('slept for longer than deletions are kept')
  })
  it('does not call its store up to date before it has been opened again', () => {
    const { freshness, sleep, now } = begun()
    const before = freshness.savedAtMs(true)
    sleep(6 * dayMs)
    expect(freshness.savedAtMs(true)).toBe(before)
    expect(() => freshness.check()).toThrow()
    freshness.begin()
    expect(freshness.savedAtMs(true)).toBe(now())
  })
})

it('a store that was saved by a clock that was ahead is built anew: nobody knows how old it is', () => {
  const range = { earliest: 0, next: 10 }
  const log = { clusterId: 'here', jobs: range, state: range }
  const local = { clusterId: 'here', jobsOffset: 0, stateOffset: 0, claimOffset: 0 }
  const now = 1_800_000_000_000
  expect(unusable({ ...local, savedAtMs: now + 3_600_000 }, log, now, 7 * dayMs)).toMatch(/clock that was ahead/)
  expect(unusable({ ...local, savedAtMs: now + 30_000 }, log, now, 7 * dayMs)).toBeUndefined()
})
