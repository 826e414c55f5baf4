import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DstGap, DstOverlap } from '../../../schemas/generated.ts'
import { cronRecurrence } from '../../../streams/schedules/cron.ts'
import { countFires, latestFire, nextFire } from '../../../streams/schedules/next-fire.ts'
import { eraAt, offsetOf, zoneOf } from '../../../streams/schedules/zone.ts'
import { dstNote } from '../../../streams/schedules/zone-moves.ts'
import { allZones } from './differential-sample.ts'
import { expressions, iso, iterated, ms, source } from './samples.ts'

const gaps: DstGap[] = ['NEXT_VALID', 'SKIP', 'SHIFT']
const overlaps: DstOverlap[] = ['FIRST', 'LAST', 'BOTH']
const timezone = 'Europe/Paris'
const spring = ms('2025-03-29T12:00:00Z')
const autumn = ms('2025-10-25T12:00:00Z')

/** The times of the next two occurrences, in UTC. */
function due(schedule: Parameters<typeof source>[0], from: number, count = 2): string[] {
  return iterated(source({ timezone, ...schedule }), from, from, count).map((at) => (iso(at) ?? '').slice(5, 16))
}

describe('a time that does not exist', () => {
  const daily = [{ cron: '30 2 * * *' }, { rrule: 'FREQ=DAILY;BYHOUR=2;BYMINUTE=30;BYSECOND=0', dtstart: 0 }]
  it.each(daily)('is due right after the gap by default: %j', (schedule) => {
    expect(due(schedule, spring)).toEqual(['03-30T01:00', '03-31T00:30'])
    expect(due({ ...schedule, dstGap: 'SHIFT' }, spring)).toEqual(['03-30T01:30', '03-31T00:30'])
    expect(due({ ...schedule, dstGap: 'SKIP' }, spring)).toEqual(['03-31T00:30', '04-01T00:30'])
  })
  it('is one run with others of the same gap, and with a time that exists', () => {
    expect(due({ cron: '15,45 2,3 * * *' }, spring, 3)).toEqual(['03-30T01:00', '03-30T01:15', '03-30T01:45'])
    expect(due({ cron: '0 2,3 * * *' }, spring)).toEqual(['03-30T01:00', '03-31T00:00'])
    expect(due({ cron: '0 2,3 * * *', dstGap: 'SHIFT' }, spring)).toEqual(['03-30T01:00', '03-31T00:00'])
  })
})

describe('a time that comes twice', () => {
  it('is due at the first by default', () => {
    const cron = '30 2 * * *'
    expect(due({ cron }, autumn)).toEqual(['10-26T00:30', '10-27T01:30'])
    expect(due({ cron, dstOverlap: 'LAST' }, autumn)).toEqual(['10-26T01:30', '10-27T01:30'])
    expect(due({ cron, dstOverlap: 'BOTH' }, autumn, 3)).toEqual(['10-26T00:30', '10-26T01:30', '10-27T01:30'])
  })
})

describe('a schedule of every hour', () => {
  it.each(['*/15 * * * *', '0 * * * *', '*/10 * * * * *'])('%s keeps its steps, whatever the policy', (cron) => {
    for (const dstGap of gaps) {
      for (const from of [spring, autumn]) {
        const found = iterated(source({ cron, timezone, dstGap }), from, from, 9_000).filter((at) => at < from + 86_400_000)
        const steps = new Set(found.map((at, index) => at - (found[index - 1] ?? from)))
        expect([...steps]).toHaveLength(1)
      }
    }
  })
})

describe('the notes of a preview', () => {
  const notes = (schedule: Parameters<typeof source>[0], from: number, count = 2): (string | undefined)[] => {
    const definition = source({ timezone, ...schedule })
    const found = iterated(definition, from, from, count)
    return found.map((at, index) => dstNote(definition, from, found[index - 1] ?? from, at))
  }
  it('describe the effect of a gap', () => {
    const cron = '30 2 * * *'
    expect(notes({ cron }, spring)).toEqual(['02:30 does not exist on 2025-03-30; due at 03:00 (dstGap NEXT_VALID).', undefined])
    expect(notes({ cron, dstGap: 'SHIFT' }, spring)[0]).toBe('02:30 does not exist on 2025-03-30; due at 03:30 (dstGap SHIFT).')
    expect(notes({ cron, dstGap: 'SKIP' }, spring)[0]).toBe('2025-03-30 02:30 does not exist and was left out (dstGap SKIP).')
    expect(notes({ cron: '0 * * * *' }, ms('2025-03-30T00:30:00Z'))).toEqual(['Clocks went from 02:00 to 03:00.', undefined])
  })
  it('name which of two times it is', () => {
    expect(notes({ cron: '30 2 * * *', dstOverlap: 'BOTH' }, autumn, 3)).toEqual([
      '02:30 comes twice; this is the first time (dstOverlap BOTH).',
      '02:30 comes twice; this is the second time (dstOverlap BOTH).',
      undefined,
    ])
    expect(notes({ cron: '0 * * * *' }, ms('2025-10-25T23:30:00Z'), 1)[0]).toMatch(/first time \(each counts/)
  })
  it('are empty without a time zone', () => {
    expect(notes({ everyMs: 1000, timezone: 'UTC' }, spring)).toEqual([undefined, undefined])
    expect(notes({ cron: '30 2 * * *', timezone: 'UTC' }, spring)).toEqual([undefined, undefined])
  })
})

/** The instants of one wall-clock time, computed only from the offsets of the zone. */
function instantsOf(wall: number, zone: string, gap: DstGap, overlap: DstOverlap): number[] {
  const [before, after] = [offsetOf(zone, wall - 86_400_000), offsetOf(zone, wall + 86_400_000)]
  const found = [...new Set([wall - before, wall - after])].filter((at) => at + offsetOf(zone, at) === wall)
  found.sort((left, right) => left - right)
  if (found.length === 2) return overlap === 'BOTH' ? found : overlap === 'FIRST' ? found.slice(0, 1) : found.slice(1)
  if (found.length === 1 || gap === 'SKIP') return found
  if (gap === 'SHIFT') return [wall - before]
  let at = wall - before
  while (offsetOf(zone, at - 1) === after) at -= 60_000
  return [at - (at % 60_000)]
}

describe('in every zone', () => {
  const changing = allZones.filter((zone) => {
    const era = zoneOf(zone).kind === 'zoned' ? eraAt(zone, ms('2025-07-01T00:00:00Z')) : undefined
    return era !== undefined && (era.offsetMs !== era.followingMs || era.offsetMs !== era.previousMs)
  })
  const around = fc.record({
    zone: fc.constantFrom(...changing),
    year: fc.integer({ min: 1996, max: 2037 }),
    month: fc.integer({ min: 0, max: 11 }),
    cron: fc.constantFrom(...expressions.filter((cron) => !/@hourly|^\*|20 \*|\/5/.test(cron)), '*/20 0-4 * * *', '5 0 * * *'),
    dstGap: fc.constantFrom(...gaps),
    dstOverlap: fc.constantFrom(...overlaps),
  })

  it('the times around a change equal those of each single wall-clock time', () => {
    fc.assert(
      fc.property(around, ({ zone, year, month, cron, dstGap, dstOverlap }) => {
        const change = eraAt(zone, Date.UTC(year, month, 15)).until
        const [from, to] = [change - 2 * 86_400_000, change + 2 * 86_400_000]
        const walls = cronRecurrence(cron).wall(0)
        const expected = new Set<number>()
        for (let wall = walls.next(from - 86_400_000); wall !== null && wall < to + 86_400_000; wall = walls.next(wall)) {
          for (const at of instantsOf(wall, zone, dstGap, dstOverlap)) if (at > from && at <= to) expected.add(at)
        }
        const rule = source({ cron, timezone: zone, dstGap, dstOverlap })
        const found: number[] = []
        for (let at = nextFire(rule, 0, from); at !== null && at <= to; at = nextFire(rule, 0, at)) found.push(at)
        expect(found).toEqual([...expected].sort((left, right) => left - right))
        const backwards: number[] = []
        for (let at = latestFire(rule, 0, from, to); at !== null; at = latestFire(rule, 0, from, at - 1)) backwards.push(at)
        expect(backwards.reverse()).toEqual(found)
        expect(countFires(rule, 0, from, to)).toBe(found.length)
      }),
      { numRuns: 1500, seed: 1 },
    )
  })
})
