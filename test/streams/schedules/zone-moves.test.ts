import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextFire } from '../../../streams/schedules/next-fire.ts'
import { decidedTime, nextByRules } from '../../../streams/schedules/zone-moves.ts'
import { putRules, rulesWithChange } from '../../tools/zone-rules.ts'
import { iso, ms, repeated, source } from './samples.ts'

const hour = 3_600_000
const minute = 60_000
const timezone = 'America/Vancouver'

describe('unchanged rules', () => {
  it('move nothing, whatever the last decision', () => {
    fc.assert(
      fc.property(repeated(), ({ definition, appendedAt, after }) => {
        let at = nextFire(definition, appendedAt, after)
        for (let step = 0; at !== null && step < 4; step++) {
          const next = nextFire(definition, appendedAt, at)
          const decidedFor = decidedTime(definition, at)
          const place = { anchorAt: appendedAt, nextFireAt: next, decidedFor }
          expect(nextByRules(definition, place, 10)).toEqual({ nextFireAt: next, passed: 0 })
          at = next
        }
      }),
      { numRuns: 400, seed: 40 },
    )
  })
})

/**
 * The occurrences of a schedule, minute by minute, by what clocks show: times in a gap are omitted, and times in an overlap come
 * twice.
 */
function minuteByMinute(hours: readonly number[], minutes: readonly number[], offsetAt: (at: number) => number, from: number) {
  return function* (): Generator<{ at: number; wall: number }> {
    for (let at = from; at < from + 96 * hour; at += minute) {
      const wall = at + offsetAt(at)
      const time = ((wall % (24 * hour)) + 24 * hour) % (24 * hour)
      if (hours.includes(Math.floor(time / hour)) && minutes.includes((time % hour) / minute)) yield { at, wall }
    }
  }
}

describe('changed rules', () => {
  const noon = ms('2030-06-12T12:00:00Z')
  const sample = fc.record({
    beforeMs: fc.integer({ min: -20, max: 24 }).map((halves) => halves * 30 * minute),
    shift: fc.constantFrom(-120, -60, -30, 30, 60, 120),
    changeAt: fc.integer({ min: -48, max: 48 }).map((hours) => noon + hours * hour),
    hours: fc.uniqueArray(fc.integer({ min: 0, max: 23 }), { minLength: 1, maxLength: 6 }),
    minutes: fc.uniqueArray(fc.constantFrom(0, 10, 15, 30, 45, 59), { minLength: 1, maxLength: 3 }),
    decided: fc.nat({ max: 30 }),
    forth: fc.boolean(),
  })

  it('give a next time that is the first on the clock after the last decided one', () => {
    let moved = 0
    fc.assert(
      fc.property(sample, ({ beforeMs, shift, changeAt, hours, minutes, decided, forth }) => {
        const flat = rulesWithChange(timezone, beforeMs, changeAt, beforeMs)
        const bent = rulesWithChange(timezone, beforeMs, changeAt, beforeMs + shift * minute)
        const [old, fresher] = forth ? [flat, bent] : [bent, flat]
        const offsetsOf = (rules: typeof flat): ((at: number) => number) => {
          const zone = rules.zone(timezone)
          return zone.kind === 'zoned' ? zone.offsetAt : () => 0
        }
        const cron = `${minutes.join(',')} ${hours.join(',')} * * *`
        const definition = source({ cron, timezone, dstGap: 'SKIP', dstOverlap: 'BOTH' })
        const appendedAt = noon - 60 * hour
        putRules(old)
        let at = nextFire(definition, appendedAt, noon - 40 * hour) ?? 0
        for (let step = 0; step < decided; step++) at = nextFire(definition, appendedAt, at) ?? 0
        const nextFireAt = nextFire(definition, appendedAt, at)
        const decidedFor = decidedTime(definition, at)
        putRules(fresher)
        const found = nextByRules(definition, { anchorAt: appendedAt, nextFireAt, decidedFor }, 100)

        const [was, is] = [offsetsOf(old)(at), offsetsOf(fresher)(at)]
        const before = at + was
        let expected: number | undefined
        for (const { at: time, wall } of minuteByMinute(hours, minutes, offsetsOf(fresher), at + minute)()) {
          if (was !== is && wall <= before) continue
          expected = time
          break
        }
        expect(iso(found.nextFireAt)).toBe(iso(expected ?? null))
        if (found.nextFireAt !== nextFireAt) moved++
        // After it is moved it keeps its time. Occurrences that had passed are decided then.
        const again = found.passed > 0 ? decidedTime(definition, at) : decidedFor
        const place = { anchorAt: appendedAt, nextFireAt: found.nextFireAt, decidedFor: again, latestFiredFor: at, skipped: 0 }
        expect(nextByRules(definition, place, 100)).toEqual({ nextFireAt: found.nextFireAt, passed: 0 })
        // It moves back when the rules do, unless an occurrence has passed.
        putRules(old)
        if (found.passed === 0) expect(nextByRules(definition, place, 100)).toEqual({ nextFireAt, passed: 0 })
      }),
      { numRuns: 1_000, seed: 40 },
    )
    expect(moved).toBeGreaterThan(200)
  })
})
