import { describe, expect, it } from 'vitest'
import { definitionFromJson } from '../../../streams/definitions/definition-json.ts'
import { countFires, dueAtOf, firstFire, latestFire, nextFire } from '../../../streams/schedules/next-fire.ts'
import { RRuleDays } from '../../../streams/schedules/rrule-days.ts'
import { parseRRule } from '../../../streams/schedules/rrule-text.ts'
import { horizonAt } from '../../../streams/schedules/wall-times.ts'
import { dstNote } from '../../../streams/schedules/zone-moves.ts'
import { allZones, cronText, type Dice, rruleText, seeded } from './differential-sample.ts'

/** Ends a test that hangs on a busy machine. No assertion depends on it. */
const limitMs = 300_000
/** In addition to the 100,000 of test/streams/definitions/fuzz.test.ts, which go through the decision core. */
const cases = 40_000
/** Zones of the fuzzed definitions: enough for all kinds of changes, few enough for the caches of the test. */
const zones = [
  ...allZones.filter((_, index) => index % 20 === 0),
  'Antarctica/Troll',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Mars/Olympus',
  '',
]

const pieces = [
  'FREQ=',
  'DAILY',
  'YEARLY',
  ';',
  '=',
  ',',
  '-',
  '0',
  '53',
  'BYDAY=',
  'MO',
  'UNTIL=',
  '2030',
  'Z',
  '*',
  '/',
  ' ',
  'L',
  '#',
  '?',
  '@',
  'é',
  '\n',
]

/** A text with a piece removed, doubled or replaced. */
function broken(dice: Dice, text: string): string {
  const at = dice.upTo(text.length + 1)
  const piece = dice.pick(pieces)
  return text.slice(0, at) + (dice.chance(0.5) ? piece : '') + text.slice(at + dice.upTo(3))
}

const instants = [
  0,
  1,
  999,
  1_000,
  Date.UTC(2011, 11, 30),
  Date.UTC(2026, 2, 29, 1),
  horizonAt - 1000,
  8_640_000_000_000_000,
  -1,
  1.5,
  Number.NaN,
]
const instant = (dice: Dice): number =>
  dice.chance(0.2) ? dice.pick(instants) : Date.UTC(2020, 0, 1) + dice.upTo(2_000_000) * 600_000

function scheduleOf(dice: Dice): Record<string, unknown> {
  const mangled = (text: string): string => (dice.chance(0.25) ? broken(dice, text) : text)
  const schedule: Record<string, unknown> = dice.chance(0.75)
    ? { cron: mangled(cronText(dice)) }
    : dice.chance(0.5)
      ? { rrule: mangled(rruleText(dice)), dtstart: dice.chance(0.7) ? Math.floor(instant(dice) / 1000) * 1000 : instant(dice) }
      : { everyMs: dice.pick([0, 99, 100, 1e6, 315_360_000_000, 1e15, Number.NaN]) }
  if (dice.chance(0.6)) schedule.timezone = dice.pick(zones)
  if (dice.chance(0.3)) schedule.dstGap = dice.pick(['NEXT_VALID', 'SKIP', 'SHIFT', 'OTHER'])
  if (dice.chance(0.3)) schedule.dstOverlap = dice.pick(['FIRST', 'LAST', 'BOTH', 7])
  if (dice.chance(0.1)) schedule.exdates = Array.from({ length: dice.upTo(4) }, () => instant(dice))
  return schedule
}

describe('forty thousand random schedules', () => {
  it('are refused with a message or give times in order, and nothing throws', { timeout: limitMs }, () => {
    const dice = seeded(7)
    let taken = 0
    // Plain comparisons, because a matcher is slower than the tested code.
    const wrong: string[] = []
    for (let index = 0; index < cases; index++) {
      const json = {
        schedule: scheduleOf(dice),
        target: { handler: 'noop' },
        ...(dice.chance(0.2) ? { startAt: instant(dice) } : {}),
        ...(dice.chance(0.1) ? { endAt: instant(dice) } : {}),
        ...(dice.chance(0.2) ? { jitterMs: dice.pick([1, 1000, 86_400_000, 86_400_001]) } : {}),
      }
      const read = definitionFromJson(json)
      if (!read.ok) {
        if (!read.problems.every(({ message }) => message.length > 10))
          wrong.push(`A short message: ${JSON.stringify(read.problems)}`)
        continue
      }
      taken++
      const { definition } = read
      const appendedAt = dice.chance(0.1) ? 0 : Date.UTC(2024, 0, 1) + dice.upTo(1_000_000_000)
      const first = firstFire(definition, appendedAt)
      if (first === null) continue
      const second = nextFire(definition, appendedAt, first)
      const right =
        (second ?? Number.POSITIVE_INFINITY) > first &&
        latestFire(definition, appendedAt, first - 1, second ?? first) === (second ?? first) &&
        countFires(definition, appendedAt, first - 1, second ?? first, 5) === (second === null ? 1 : 2) &&
        dueAtOf(definition, appendedAt, 'a', first) < (second ?? Number.POSITIVE_INFINITY)
      if (!right) wrong.push(JSON.stringify({ json, appendedAt, first, second }))
      dstNote(definition, appendedAt, first - 1, first)
    }
    expect(wrong).toEqual([])
    expect(taken).toBeGreaterThan(cases / 3)
  })
})

describe('a search', () => {
  /** Counts the days that one search of the calendar checks. */
  class CountedDays extends RRuleDays {
    looks = 0

    override matches(day: number): boolean {
      this.looks++
      return super.matches(day)
    }
  }
  it.each([
    'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30',
    'FREQ=DAILY;BYMONTH=4;BYMONTHDAY=31',
    'FREQ=YEARLY;INTERVAL=4;BYYEARDAY=366;BYMONTH=1',
    'FREQ=MONTHLY;INTERVAL=12;BYMONTHDAY=31;BYMONTH=2',
    'FREQ=WEEKLY;INTERVAL=100000;BYDAY=MO;BYMONTH=1',
  ])('ends after a bounded number of days, in both directions: %s', (text) => {
    const rule = parseRRule(text)
    if ('problem' in rule) throw new Error(rule.problem)
    for (const begin of [0, 20_000]) {
      const days = new CountedDays(rule, begin)
      days.atOrAfter(begin)
      days.atOrBefore(begin + 20_000)
      expect(days.looks).toBeLessThan(101_000)
    }
  })
})
