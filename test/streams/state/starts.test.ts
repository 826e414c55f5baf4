/** The sliding window of starts: it is exact at any beginning, for any limits and any order of requests. */
import fc from 'fast-check'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { completeDefinition } from '../../../streams/definitions/definition-json.ts'
import {
  isOutdated,
  rateOf,
  rateUse,
  reserveStart,
  type Starts,
  StartTimes,
  startsEntry,
  startsOf,
} from '../../../streams/state/starts.ts'

const rate = fc.record({ limit: fc.integer({ min: 1, max: 5 }), perMs: fc.integer({ min: 1, max: 50 }) })

describe('starts under a rateLimit', () => {
  it('of one limit never exceed it in any window', () => {
    fc.assert(
      fc.property(rate, fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 80 }), (given, wanted) => {
        const times = allGiven(given, wanted)
        for (const [index, at] of times.entries()) {
          expect(at).toBeGreaterThanOrEqual(wanted[index] ?? 0)
          const beyond = times[index + given.limit]
          if (beyond !== undefined) expect(beyond - at).toBeGreaterThanOrEqual(given.perMs)
        }
      }),
    )
  })
  it('are counted for people: those of the last period, those given ahead, and when the next one would be', () => {
    const starts = { times: StartTimes.of([1_000, 5_000, 9_000, 12_000, 16_000]), limit: 3, perMs: 10_000, givenAt: 10_000 }
    expect(rateUse(starts, 10_000)).toEqual({ started: 3, ahead: 2, nextAt: 19_000 })
    // At 15 s those of 5 s and before are over.
    expect(rateUse(starts, 15_000)).toEqual({ started: 2, ahead: 1, nextAt: 19_000 })
    expect(rateUse(starts, 60_000)).toEqual({ started: 0, ahead: 0, nextAt: 60_000 })
  })

  it('of jobs with different limits keep each limit, counted back from its start', () => {
    const asked = fc.record({ given: rate, at: fc.integer({ min: 0, max: 300 }) })
    fc.assert(
      fc.property(rate, fc.array(asked, { maxLength: 60 }), (largest, asks) => {
        // Starts that were forgotten before a request with such a large window cannot be counted. So the largest request comes
        // first.
        let starts: Starts | undefined = reserveStart(undefined, { limit: 5, perMs: 50 + largest.perMs }, 0).starts
        const times = [0]
        for (const { given, at: wantedAt } of asks) {
          const reserved = reserveStart(starts, given, wantedAt)
          starts = reserved.starts
          times.push(reserved.at)
          const inWindow = times.filter((time) => time > reserved.at - given.perMs)
          expect(inWindow.length).toBeLessThanOrEqual(given.limit)
        }
      }),
    )
  })
  it('are assigned by arrival: none comes before one that was assigned earlier', () => {
    expect(allGiven({ limit: 2, perMs: 10 }, [100, 50, 50, 50])).toEqual([100, 100, 110, 110])
  })
  it('are assigned at once while there is room, and no later than needed after that', () => {
    expect(allGiven({ limit: 3, perMs: 1_000 }, [0, 0, 0, 0, 500, 1_500])).toEqual([0, 0, 0, 1_000, 1_000, 1_500])
  })
  it('obey a smaller limit at once', () => {
    const before = [0, 0, 0, 0].reduce<Starts | undefined>(
      (starts) => reserveStart(starts, { limit: 4, perMs: 100 }, 0).starts,
      undefined,
    )
    expect(reserveStart(before, { limit: 1, perMs: 100 }, 10).at).toBe(100)
    expect(reserveStart(before, { limit: 4, perMs: 500 }, 10).at).toBe(500)
    expect(reserveStart(before, { limit: 5, perMs: 100 }, 10).at).toBe(10)
  })
  it('are read back from the log unchanged', () => {
    fc.assert(
      fc.property(rate, fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 30 }), (given, wanted) => {
        const starts = wanted.reduce<Starts | undefined>((before, at) => reserveStart(before, given, at).starts, undefined)
        if (starts === undefined) throw new Error('Nothing was given.')
        expect(startsOf(startsEntry(starts))).toEqual(starts)
      }),
    )
  })
  it('are kept up to the limit, and forgotten when no clock can be so far behind', () => {
    let starts: Starts | undefined
    for (let at = 0; at < 100; at++) starts = reserveStart(starts, { limit: 7, perMs: 1_000_000 }, at).starts
    expect(starts?.times).toHaveLength(7)
    expect(isOutdated({ lastAt: 0, perMs: 1_000 }, 60_000)).toBe(false)
    expect(isOutdated({ lastAt: 0, perMs: 1_000 }, 3_600_999)).toBe(false)
    expect(isOutdated({ lastAt: 0, perMs: 1_000 }, 3_601_000)).toBe(true)
    expect(isOutdated({ lastAt: 5, perMs: 1_000 }, 3_601_000)).toBe(false)
  })
  it('are kept up to the largest limit, also if other jobs have a small one', () => {
    let starts = reserveStart(undefined, { limit: 5, perMs: 1_000_000 }, 0).starts
    for (let at = 1; at < 50; at++) {
      starts = reserveStart(starts, { limit: 1, perMs: 1 }, at).starts
      expect(starts.times.length).toBeLessThanOrEqual(5)
      expect(starts.times.last).toBe(at)
    }
    expect(starts).toMatchObject({ limit: 5, perMs: 1_000_000 })
    expect([...starts.times]).toEqual([45, 46, 47, 48, 49])
  })
  it('are forgotten as soon as no window can hold them', () => {
    const before = { times: StartTimes.of([0, 900]), limit: 5, perMs: 1_000, givenAt: 0 }
    expect([...reserveStart(before, { limit: 5, perMs: 1_000 }, 999).starts.times]).toEqual([0, 900, 999])
    expect([...reserveStart(before, { limit: 5, perMs: 1_000 }, 1_000).starts.times]).toEqual([900, 1_000])
    expect([...reserveStart(before, { limit: 5, perMs: 1_000 }, 5_000).starts.times]).toEqual([5_000])
  })
})

describe('one more start', () => {
  it('does not change those before it, for any later use', () => {
    const operations = fc.array(fc.record({ from: fc.nat(40), forgotten: fc.nat(3), at: fc.nat(1_000) }), { maxLength: 40 })
    fc.assert(
      fc.property(operations, (asked) => {
        const made: { is: StartTimes; should: number[] }[] = [{ is: StartTimes.of([1, 2]), should: [1, 2] }]
        for (const { from, forgotten, at } of asked) {
          const before = made[from % made.length] as (typeof made)[number]
          const left = Math.min(forgotten, before.should.length)
          made.push({ is: before.is.followedBy(at, left), should: [...before.should.slice(left), at] })
        }
        for (const { is, should } of made) {
          expect([...is]).toEqual(should)
          expect([is.length, is.last, is.at(0), is.at(is.length), is.at(-1)]).toEqual([
            should.length,
            should.at(-1),
            should[0],
            undefined,
            undefined,
          ])
        }
      }),
    )
  })
  it('rarely copies the others, however many there are', () => {
    const copies = vi.spyOn(Array.prototype, 'slice')
    onTestFinished(() => copies.mockRestore())
    let starts: Starts | undefined
    for (let at = 0; at < 30_000; at++) starts = reserveStart(starts, { limit: 10_000, perMs: 1_000_000 }, at).starts
    expect(copies.mock.calls.length).toBeLessThan(10)
    expect(starts?.times).toHaveLength(10_000)
  })
})

/** As the README says of rateLimit: starts that a clock ahead of time gave for a future time block no run. */
describe('starts that a clock assigned that was ahead', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  const now = 1_800_000_000_000
  const rate = { limit: 1, perMs: hour }
  const next = (times: number[], givenAt: number): number =>
    reserveStart({ times: StartTimes.of(times), ...rate, givenAt }, rate, now, now).at
  it('count as assigned now if the clock was ahead by more than a minute', () => {
    expect(next([now + day], now + day)).toBe(now + hour)
    expect(next([now + day], now + minute + 1)).toBe(now + hour)
  })
  it('stay as they are if the clock was ahead by at most a minute', () => {
    expect(next([now + day], now + minute)).toBe(now + day + hour)
    expect(next([now - 1_000], now - 1_000)).toBe(now - 1_000 + hour)
  })
  it('do not change past ones', () => {
    const before = { times: StartTimes.of([now - 10, now + day]), limit: 3, perMs: hour, givenAt: now + day }
    expect([...reserveStart(before, { limit: 3, perMs: hour }, now, now).starts.times]).toEqual([now - 10, now, now])
  })
})

describe('the rateLimit of a run', () => {
  const made = {
    concurrencyKey: null,
    concurrencyLimit: 1,
    rateKey: 'r',
    rateLimit: 2,
    ratePerMs: 3,
    rank: 1,
    startDeadlineMs: 60_000,
  }
  const spec = (rateLimit?: { key: string; limit: number; perMs: number }) =>
    completeDefinition({ schedule: { at: 0 }, target: { handler: 'x' }, ...(rateLimit && { rateLimit }) })
  const of = (definition: ReturnType<typeof spec> | undefined, limits: typeof made | null | { rateKey: null }) =>
    rateOf(definition, { limits: limits === null ? null : { ...made, ...limits } } as Parameters<typeof rateOf>[1])
  it('is that of the definition in force, for the same key', () => {
    expect(of(spec({ key: 'r', limit: 9, perMs: 90 }), made)).toEqual({ key: 'r', limit: 9, perMs: 90 })
  })
  it('is that of the run itself if the definition has another key, none, or is lost', () => {
    const own = { key: 'r', limit: 2, perMs: 3 }
    expect(of(spec({ key: 'z', limit: 9, perMs: 90 }), made)).toEqual(own)
    expect(of(spec(), made)).toEqual(own)
    expect(of(undefined, made)).toEqual(own)
  })
  it('is none without limits, or with slots only', () => {
    expect(of(spec({ key: 'r', limit: 9, perMs: 90 }), null)).toBeNull()
    expect(of(spec({ key: 'r', limit: 9, perMs: 90 }), { rateKey: null })).toBeNull()
  })
})

function allGiven(rate: { limit: number; perMs: number }, wanted: readonly number[]): number[] {
  let starts: Starts | undefined
  return wanted.map((wantedAt) => {
    const reserved = reserveStart(starts, rate, wantedAt)
    starts = reserved.starts
    return reserved.at
  })
}
