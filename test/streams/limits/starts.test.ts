/** The sliding window of starts: exact wherever a window begins, whatever is asked with and in whatever order. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isOutdated, reserveStart, type Starts, startsEntry, startsOf } from '../../../streams/limits/starts.ts'

const rate = fc.record({ limit: fc.integer({ min: 1, max: 5 }), perMs: fc.integer({ min: 1, max: 50 }) })

describe('starts under a rate', () => {
  it('of one limit are never more than it in any window, wherever that begins', () => {
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
  it('of jobs that ask with different limits keep that of each, counted back from its start', () => {
    const asked = fc.record({ given: rate, at: fc.integer({ min: 0, max: 300 }) })
    fc.assert(
      fc.property(rate, fc.array(asked, { maxLength: 60 }), (largest, asks) => {
        // What was forgotten before anybody asked with so large a window cannot be counted: the largest asks first.
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
  it('are given by arrival: none comes before one that was given earlier', () => {
    expect(allGiven({ limit: 2, perMs: 10 }, [100, 50, 50, 50])).toEqual([100, 100, 110, 110])
  })
  it('are given at once as long as there is room, and no later than needed after that', () => {
    expect(allGiven({ limit: 3, perMs: 1_000 }, [0, 0, 0, 0, 500, 1_500])).toEqual([0, 0, 0, 1_000, 1_000, 1_500])
  })
  it('hold a smaller limit at once', () => {
    const before = [0, 0, 0, 0].reduce<Starts | undefined>(
      (starts) => reserveStart(starts, { limit: 4, perMs: 100 }, 0).starts,
      undefined,
    )
    expect(reserveStart(before, { limit: 1, perMs: 100 }, 10).at).toBe(100)
    expect(reserveStart(before, { limit: 4, perMs: 500 }, 10).at).toBe(500)
    expect(reserveStart(before, { limit: 5, perMs: 100 }, 10).at).toBe(10)
  })
  it('come back from the log as they were', () => {
    fc.assert(
      fc.property(rate, fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 30 }), (given, wanted) => {
        const starts = wanted.reduce<Starts | undefined>((before, at) => reserveStart(before, given, at).starts, undefined)
        if (starts === undefined) throw new Error('Nothing was given.')
        expect(startsOf(startsEntry(starts))).toEqual(starts)
      }),
    )
  })
  it('are kept no more than the limit, and forgotten when no clock can be so far behind', () => {
    let starts: Starts | undefined
    for (let at = 0; at < 100; at++) starts = reserveStart(starts, { limit: 7, perMs: 1_000_000 }, at).starts
    expect(starts?.times).toHaveLength(7)
    expect(isOutdated({ lastAt: 0, perMs: 1_000 }, 60_000)).toBe(false)
    expect(isOutdated({ lastAt: 0, perMs: 1_000 }, 3_601_000)).toBe(true)
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
