/**
 * Compares rules with rrule-temporal, which shares no code with ours. It has one policy for daylight saving, so ours is set to
 * the same: dstGap SHIFT and dstOverlap FIRST.
 */
import { RRuleTemporal } from 'rrule-temporal'
import { describe, expect, it } from 'vitest'
import { nextFire } from '../../../streams/schedules/next-fire.ts'
import { allZones, type Dice, rruleText, seeded } from './differential-sample.ts'
import { iso, source } from './samples.ts'

const rulesOfZone = 6
/** Ends a test that hangs on a busy machine. No assertion depends on it. */
const limitMs = 300_000
/** The number of occurrences that are compared for each rule. */
const occurrencesMax = 2
/** The number of periods without an occurrence after which rrule-temporal gives up. */
const theirPeriodsMax = 300

interface Answers {
  rrule: string
  timezone: string
  dtstart: number
  ours: (number | null)[]
  theirs: (number | null)[] | string
}

/**
 * What the two may differ in, and who is right. A difference that no line explains fails the test.
 *
 * | class | they say | right | why |
 * | --- | --- | --- | --- |
 * | gave up | "Maximum iterations", the bound of this test, or nothing within it | ours | each occurrence we name is one by the BY parts |
 * | year days and weekdays | YEARLY with BYYEARDAY and BYDAY comes true on days of either | ours | RFC 5545, note 2: BYDAY limits where BYYEARDAY or BYMONTHDAY is present |
 * | month days and numbered weekdays | YEARLY with BYMONTHDAY and a numbered BYDAY ignores the former | ours | the same note |
 * | hours by the clock | an interval of hours or less that names hours goes by elapsed time, so daylight saving moves it into other hours | ours | what names hours goes by the clock on the wall |
 * | half hours | in Lord Howe the minute of an hourly rule moves with the offset | ours | the minute is that of dtstart, RFC 5545: taken from DTSTART |
 */
const classes: Record<string, (answers: Answers) => boolean> = {
  'gave up': ({ theirs }) => typeof theirs === 'string' || theirs.length === 0,
  'year days and weekdays': ({ rrule }) => /FREQ=YEARLY.*BYYEARDAY.*BYDAY/.test(rrule),
  'month days and numbered weekdays': ({ rrule }) =>
    /FREQ=YEARLY.*BYMONTHDAY.*BYDAY=[^;]*\d/.test(rrule) && !/BYMONTH=/.test(rrule),
  'hours by the clock': ({ rrule }) => /FREQ=(HOUR|MINUTE|SECOND)LY;INTERVAL.*BYHOUR/.test(rrule),
  'half hours': ({ rrule, timezone }) => timezone === 'Australia/Lord_Howe' && rrule.startsWith('FREQ=HOURLY'),
}

/** Differences that the generated questions seldom reach. */
const pinned = [{ rrule: 'FREQ=HOURLY', timezone: 'Australia/Lord_Howe', dtstart: Date.UTC(2024, 3, 6, 14, 10) }]

function ask(dice: Dice, timezone: string): Answers {
  const dtstart = Date.UTC(2024, dice.upTo(12), dice.between(1, 28), dice.upTo(24), dice.upTo(60))
  return answersTo({ rrule: rruleText(dice), timezone, dtstart })
}

function answersTo({ rrule, timezone, dtstart }: (typeof pinned)[number]): Answers {
  const rule = source({ rrule, dtstart, timezone, dstGap: 'SHIFT' })
  const ours: (number | null)[] = []
  let at: number | null = dtstart - 1
  while (ours.length < occurrencesMax) {
    at = at === null ? null : nextFire(rule, 0, at)
    ours.push(at)
  }
  return { rrule, timezone, dtstart, ours, theirs: theirTimes(rrule, dtstart, timezone) }
}

function theirTimes(rrule: string, dtstart: number, timezone: string): (number | null)[] | string {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: timezone, dateStyle: 'short', timeStyle: 'medium' })
  const begin = format.format(dtstart).replace(' ', 'T').replace(/[-:]/g, '')
  try {
    const rule = new RRuleTemporal({
      rruleString: `DTSTART;TZID=${timezone}:${begin}\nRRULE:${rrule}`,
      maxIterations: theirPeriodsMax,
    })
    const found: (number | null)[] = []
    rule.all((time) => found.push(time.epochMilliseconds) < occurrencesMax)
    return found
  } catch (error) {
    return String(error)
  }
}

describe('rules, asked in every zone', () => {
  it('are due when a second implementation agrees, except for explained differences', { timeout: limitMs }, () => {
    const dice = seeded(5_545)
    const unexplained: string[] = []
    const explained = new Set<string>()
    const judge = (answers: Answers): void => {
      const { rrule, timezone, dtstart, ours, theirs } = answers
      if (JSON.stringify(ours) === JSON.stringify(theirs)) return
      const found = Object.keys(classes).find((name) => classes[name]?.(answers))
      const theirText = typeof theirs === 'string' ? theirs : theirs.map(iso)
      if (found !== undefined) explained.add(found)
      else unexplained.push(`${rrule} ${timezone} ${iso(dtstart)}: ${ours.map(iso)}, not ${theirText}`)
    }
    for (const question of pinned) judge(answersTo(question))
    for (const timezone of allZones) {
      for (let index = 0; index < rulesOfZone; index++) judge(ask(dice, timezone))
    }
    expect(unexplained).toEqual([])
    // A line of the table that explains no difference must be removed.
    expect([...explained].sort()).toEqual(Object.keys(classes).sort())
  })
})
