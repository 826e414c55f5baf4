import { describe, expect, it } from 'vitest'
import { validateDefinition } from '../../../streams/definitions/validate.ts'
import { CountedEnd, freshCalendarOf, nextInCalendar } from '../../../streams/schedules/calendar.ts'
import { cronProblem } from '../../../streams/schedules/cron.ts'
import { countFires, latestFire, nextFire } from '../../../streams/schedules/next-fire.ts'
import { RRuleDays } from '../../../streams/schedules/rrule-days.ts'
import { firstTimeStepsMax, neverFires } from '../../../streams/schedules/rrule-problem.ts'
import { parseRRule } from '../../../streams/schedules/rrule-text.ts'
import { eraSteps, stepsSpent, stepsTaken, withinSteps } from '../../../streams/schedules/steps.ts'
import { dayMs } from '../../../streams/schedules/wall-times.ts'
import { nextZoned } from '../../../streams/schedules/zoned-times.ts'
import type { Problem } from '../../../streams/text/problem.ts'
import { rruleText, seeded } from './differential-sample.ts'
import { hostileDefinition } from './hostile-rules.ts'
import { source } from './samples.ts'

/** More by hand: DUELOG_HOSTILE_RULES=200000. */
const hostileRules = Number(process.env.DUELOG_HOSTILE_RULES ?? 1_500)
/**
 * The maximum number of steps for one question about an accepted rule: about 10 ms. The worst of 30,000 rules needs two thirds of
 * it.
 */
const questionStepsMax = 1_500_000
const now = Date.UTC(2026, 10, 22)
/** Ends a test that hangs on a busy machine. No assertion depends on it. */
const limitMs = 300_000

const costOf = (question: () => unknown): number => {
  const before = stepsSpent()
  question()
  return stepsSpent() - before
}

describe('steps of a search', () => {
  it.each(['UTC', 'Europe/Paris'])('stay few for counts of rare times, once a month or once in decades, in %s', (timezone) => {
    for (const rrule of [
      'FREQ=MONTHLY;COUNT=10000;BYMONTHDAY=29;BYHOUR=3',
      'FREQ=YEARLY;COUNT=10000;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO',
      'FREQ=MONTHLY;BYMONTHDAY=29;BYMONTH=2;BYDAY=MO;BYSETPOS=-1',
    ]) {
      const rule = source({ rrule, timezone, dtstart: Date.UTC(2026, 0, 1) })
      const first = stepsTaken()
      nextInCalendar(freshCalendarOf(rule.schedule, null, 0), 0)
      expect(stepsTaken() - first).toBeLessThan(firstTimeStepsMax / 3)
      expect(validateDefinition(hostile(rrule, timezone))).toEqual([])
      expect(costOf(() => nextFire(rule, 0, now))).toBeLessThan(firstTimeStepsMax)
    }
  })

  it('end if a rule is too rare, which makes it invalid with a reason that names the limit', () => {
    const tooRare = hostile('FREQ=HOURLY;INTERVAL=3600;BYMONTH=7,9;BYMONTHDAY=31;BYDAY=MO,FR', 'Australia/Lord_Howe')
    const before = stepsTaken()
    const [problem] = validateDefinition(tooRare)
    expect(problem?.field).toBe('schedule.rrule')
    expect(problem?.message).toContain('not found to within 100000 steps')
    expect(stepsTaken() - before).toBeLessThanOrEqual(firstTimeStepsMax + 1_000)
    const tooLate = { ...hostile('FREQ=MONTHLY;COUNT=10000', 'Europe/Paris'), startAt: Date.UTC(2900, 0, 1) }
    expect(validateDefinition(tooLate)[0]?.message).toContain('begins too long before startAt')
    // The result does not depend on earlier questions.
    nextFire(tooRare, 0, now)
    expect(neverFires({ ...tooRare, startAt: 1 })).toContain('not found to within')
  })

  it('are bounded for every accepted rule, by a search for the worst', { timeout: limitMs }, () => {
    const dice = seeded(20_261_122)
    let [accepted, worst] = [0, { steps: 0, what: '' }]
    const ask = (what: string, question: () => unknown): void => {
      const steps = costOf(question)
      if (steps > worst.steps) worst = { steps, what }
    }
    for (let made = 0; made < hostileRules; made++) {
      const definition = hostileDefinition(dice)
      const { rrule } = definition.schedule
      const name = JSON.stringify([definition.schedule, definition.startAt])
      let problems: unknown[] = []
      ask(`validate ${name}`, () => {
        problems = validateDefinition(definition)
      })
      if (problems.length > 0 || rrule === null) continue
      accepted++
      let at: number | null = now
      for (let asked = 0; asked < 3 && at !== null; asked++) {
        const from: number = at
        ask(`next ${name}`, () => {
          at = nextFire(definition, now, from)
        })
      }
      ask(`latest ${name}`, () => latestFire(definition, 0, 0, now))
      ask(`count ${name}`, () => countFires(definition, 0, now - 30 * dayMs, now, 1_000_000))
    }
    expect(accepted).toBeGreaterThan(hostileRules / 5)
    expect(worst.steps, worst.what).toBeLessThan(questionStepsMax)
  })

  it('stay few for excluded instants that the rule does not have, however often they are counted', () => {
    const dtstart = Date.UTC(2026, 0, 1, 3)
    const exdates = Array.from({ length: 1_000 }, (_, index) => dtstart + index * 3 * dayMs)
    const rare = source({ rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO', timezone: 'Europe/Paris', dtstart, exdates })
    const count = (): number => countFires(rare, 0, dtstart, dtstart + 30 * 366 * dayMs)
    // A search for the next time from each of them would take 10 million steps each time.
    expect(costOf(count)).toBeLessThan(1_000_000)
    expect(costOf(count)).toBeLessThan(20_000)
    expect(count()).toBe(1)
  })

  it('are limited for all exclusions together, because one query may pass over all of them', () => {
    const dtstart = Date.UTC(2026, 0, 1, 3)
    const leaving = (rrule: string, most = 999) => {
      const { schedule } = source({ rrule, timezone: 'Europe/Paris', dtstart })
      const exdates: number[] = []
      for (let at = nextZoned(freshCalendarOf(schedule, null, 0).rule, dtstart); at !== null && exdates.length < most; ) {
        exdates.push(at)
        at = nextZoned(freshCalendarOf(schedule, null, 0).rule, at)
      }
      return { ...hostile(rrule, 'Europe/Paris'), schedule: { ...schedule, exdates } }
    }
    expect(validateDefinition(leaving('FREQ=DAILY'))).toEqual([])
    expect(validateDefinition(leaving('FREQ=MONTHLY'))).toEqual([])
    expect(validateDefinition(leaving('FREQ=YEARLY', 30))).toEqual([])
    expect(validateDefinition(leaving('FREQ=YEARLY', 290))[0]?.message).toContain(
      '1000000 steps of the search to pass over its exdates',
    )
  })

  it('are limited for exclusions whose time zone would have to be computed century after century', () => {
    const leaving = (years: number, timezone: string) => {
      const exdates = Array.from({ length: years }, (_, index) => Date.UTC(1970 + index, 5, 15, 3, 0, 1))
      return { ...hostile('FREQ=DAILY', timezone), schedule: { ...hostile('FREQ=DAILY', timezone).schedule, exdates } }
    }
    let problems: readonly Problem[] = []
    const cost = (years: number, timezone: string) =>
      costOf(() => {
        problems = validateDefinition(leaving(years, timezone))
      })
    // For zones that are not in the cache. Computing all of them at once would take 8 million steps.
    expect(cost(1_000, 'America/Asuncion')).toBeLessThan(100_000)
    expect(problems[0]?.message).toContain('2400000 steps of the search to learn its time zone at all of its exdates')
    expect(cost(300, 'America/Campo_Grande')).toBeLessThan(3_000_000)
    expect(problems).toEqual([])
    expect(cost(1_000, 'UTC')).toBeLessThan(100_000)
    expect(problems).toEqual([])
    const { schedule, ...job } = leaving(1_000, 'America/Santarem')
    expect(
      validateDefinition({ ...job, schedule: { ...schedule, rrule: null, dtstart: null, cron: '0 3 15 6 *' } }),
    ).toMatchObject([
      { field: 'schedule.cron', message: expect.stringContaining('to learn its time zone at all of its exdates') },
    ])
  })

  it('are stopped from within, and counted again for the next caller', () => {
    const rule = source({ rrule: 'FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=29;BYDAY=MO', dtstart: now })
    const search = (): number | null => nextInCalendar(freshCalendarOf(rule.schedule, null, 0), now)
    expect(withinSteps(10, search)).toBeUndefined()
    expect(withinSteps(100_000, search)?.result).toBe(Date.UTC(2044, 1, 29))
  })
})

describe('the end of a COUNT', () => {
  it('is where a walk from the beginning ends, for any range', () => {
    const dice = seeded(58)
    for (let made = 0; made < 300; made++) {
      const timezone = dice.pick(['UTC', 'Europe/Paris', 'Africa/Casablanca', 'Australia/Lord_Howe'])
      const begin = Date.UTC(2024, dice.upTo(12), dice.between(1, 28), dice.upTo(24))
      const { schedule } = source({
        rrule: rruleText(dice),
        timezone,
        dtstart: begin,
        dstGap: dice.pick(['SKIP', 'SHIFT', 'NEXT_VALID']),
      })
      const { rule } = freshCalendarOf(schedule, null, 0)
      const count = dice.between(1, 60)
      let end: number | null = begin - 1
      for (let walked = 0; walked < count && end !== null; walked++) end = nextZoned(rule, end)
      const counted = new CountedEnd(rule, begin, count)
      if (end === null) {
        expect(counted.by(Date.UTC(2100, 0, 1)), schedule.rrule ?? '').toBe(Number.POSITIVE_INFINITY)
        continue
      }
      const looks = [end - 1, begin + Math.floor((end - begin) * 0.5), begin - dayMs].filter(() => dice.chance(0.7))
      for (const at of looks) if (at < end) expect(counted.by(at)).toBe(Number.POSITIVE_INFINITY)
      expect(counted.by(end + dice.upTo(400) * dayMs), JSON.stringify(schedule)).toBe(end)
      expect(counted.by(end)).toBe(end)
    }
  })
})

describe('the table of years', () => {
  it('contains for each day of four centuries what the rule gives', () => {
    for (const text of [
      'FREQ=YEARLY;BYWEEKNO=1,53,-52,-53;BYDAY=MO,SU',
      'FREQ=YEARLY;BYYEARDAY=1,60,366,-1,-366',
      'FREQ=MONTHLY;BYDAY=5MO,-1FR;BYMONTHDAY=29,30,31,-31',
      'FREQ=YEARLY;BYDAY=53MO,-53TU,1WE;WKST=SU',
      'FREQ=YEARLY;BYWEEKNO=1,-1;WKST=WE;BYDAY=TH,WE',
    ]) {
      const rule = parseRRule(text)
      if ('problem' in rule) throw new Error(rule.problem)
      const tabled = new RRuleDays(rule, 0)
      for (let first = 11_000; first < 11_000 + 146_097; first += 100) {
        const asked = new RRuleDays(rule, 0)
        for (let day = first; day < first + 100; day++)
          if (tabled.matches(day) !== asked.matches(day)) expect.fail(`${text}: ${day}`)
      }
    }
  })
})

describe('a cron expression that never comes true', () => {
  it.each(['0 0 30 2 *', '0 0 31 2,4,6,9,11 *', '0 0 30 2 +MON', '0 0 29W 2 +SUN'])(
    'is refused without a search: %s',
    (expression) => {
      const before = stepsSpent()
      expect(cronProblem(expression)).toContain('no such day exists')
      expect(stepsSpent() - before).toBeLessThan(eraSteps * 4)
    },
  )

  it.each(['0 0 29 2 *', '0 0 30 2 MON', '0 0 L 2 *', '0 0 31 1 *', '0 0 LW 2 *', '0 0 29 2 +MON', '0 0 5W 2 *'])(
    'is not confused with one that has an occurrence: %s',
    (expression) => expect(cronProblem(expression)).toBeUndefined(),
  )
})

function hostile(rrule: string, timezone: string) {
  return {
    ...hostileDefinition(seeded(1)),
    startAt: null,
    schedule: { ...source({ rrule, timezone, dtstart: Date.UTC(2026, 0, 1) }).schedule },
  }
}
