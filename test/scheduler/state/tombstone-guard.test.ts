import { describe, expect, it } from 'vitest'
import { type Checkpoint, foreign, idleCheckMs, TombstoneGuard, unusable } from '../../../src/scheduler/state/checkpoint.ts'
import { VirtualTime } from '../../tools/manual-clock.ts'

const dayMs = 86_400_000

function begun(savedAtMs?: number) {
  const time = new VirtualTime()
  const clock = { nowMs: () => time.nowMs, steadyMs: () => time.nowMs, at: () => () => undefined }
  const tombstoneGuard = new TombstoneGuard(clock, 7 * dayMs)
  tombstoneGuard.begin(savedAtMs)
  const sleep = (forMs: number): void => {
    time.nowMs += forMs
  }
  /** The guard looks at the clock as often as a partition does. */
  const live = (forMs: number): void => {
    for (let leftMs = forMs; leftMs > 0; leftMs -= idleCheckMs) {
      sleep(Math.min(leftMs, idleCheckMs))
      tombstoneGuard.check()
    }
  }
  return { tombstoneGuard, live, sleep, now: () => time.nowMs }
}

describe('a store', () => {
  it('keeps its recorded time from the opening until all of its logs are read', () => {
    const { tombstoneGuard, live, now } = begun(5)
    live(3 * dayMs)
    expect(tombstoneGuard.savedAtMs(false)).toBe(5)
    expect(tombstoneGuard.savedAtMs(true)).toBe(now())
    const caughtUpAt = now()
    live(dayMs)
    expect(tombstoneGuard.savedAtMs(false)).toBe(caughtUpAt)
  })
  it('that is new misses no later deletion', () => {
    const { tombstoneGuard, live, now } = begun()
    const openedAt = now()
    live(dayMs)
    expect(tombstoneGuard.savedAtMs(false)).toBe(openedAt)
  })
  it('that is idle records periodically that it is up to date', () => {
    const { tombstoneGuard, live } = begun()
    tombstoneGuard.recorded()
    expect(tombstoneGuard.isDue).toBe(false)
    live(idleCheckMs)
    // Each commit cycle asks for the saved time, also when nothing is written.
    tombstoneGuard.savedAtMs(true)
    expect(tombstoneGuard.isDue).toBe(true)
    tombstoneGuard.recorded()
    expect(tombstoneGuard.isDue).toBe(false)
  })
  it('may be idle for years', () => {
    expect(() => begun().live(800 * dayMs)).not.toThrow()
  })
})

describe('a process that slept', () => {
  it.each([5, 6])('for %i days continues only if no tombstone can have expired meanwhile', (days) => {
    const { tombstoneGuard, sleep } = begun()
    sleep(days * dayMs)
    if (days === 5) expect(() => tombstoneGuard.check()).not.toThrow()
    else expect(() => tombstoneGuard.check()).toThrow('slept for longer than deletions are kept')
  })
  it('does not call its store up to date before it has been reopened', () => {
    const { tombstoneGuard, sleep, now } = begun()
    const before = tombstoneGuard.savedAtMs(true)
    sleep(6 * dayMs)
    expect(tombstoneGuard.savedAtMs(true)).toBe(before)
    expect(() => tombstoneGuard.check()).toThrow()
    tombstoneGuard.begin()
    expect(tombstoneGuard.savedAtMs(true)).toBe(now())
  })
})

describe('a store that is opened', () => {
  const now = 1_800_000_000_000
  const system = { clusterId: 'here', prefix: 'duelog.' }
  const local = { ...system, zoneRules: '', jobsOffset: 10, stateOffset: 0, claimOffset: 0, savedAtMs: now }
  const why = (more: Partial<Checkpoint>): string | undefined =>
    foreign({ ...local, ...more }, system) ?? unusable({ ...local, ...more }, 10, now, 10 * dayMs)
  it.each<[string, Partial<Checkpoint>, RegExp]>([
    ['of another system', { prefix: 'other.' }, /the topics other\.\*, these are duelog\.\*/],
    ['of another cluster', { clusterId: 'there' }, /cluster there, this one is here/],
    ['that has read what the log has not', { jobsOffset: 11 }, /read jobs up to 11, the log ends at 10/],
    ['of a log in which another owner has gone on', { changelog: 'replaced' }, /another owner has continued/],
    ['from before deletions that the log has forgotten', { savedAtMs: now - 8 * dayMs - 1 }, /older than tombstones are kept/],
    ['that was saved by a clock that was ahead', { savedAtMs: now + 3_600_000 }, /clock that was ahead/],
  ])('is rebuilt if it is one %s', (_, more, reason) => {
    expect(why(more)).toMatch(reason)
  })
  it.each<[string, Partial<Checkpoint>]>([
    ['has read all that is there', {}],
    ['is as old as it may be', { savedAtMs: now - 8 * dayMs }],
    ['was saved by a clock that was ahead by no more than clocks are apart', { savedAtMs: now + 30_000 }],
  ])('is kept if it %s', (_, more) => {
    expect(why(more)).toBeUndefined()
  })
})
