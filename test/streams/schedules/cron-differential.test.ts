/**
 * Compares cron with cron-parser, which shares no code with croner or with us and takes its zones from Luxon. It has one policy
 * for daylight saving, so ours is set to the same: dstGap SHIFT and dstOverlap FIRST. Half of the questions are asked shortly
 * before a change of the zone's offset.
 */
import { CronExpressionParser } from 'cron-parser'
import { describe, expect, it } from 'vitest'
import { cronRecurrence } from '../../../streams/schedules/cron.ts'
import { nextFire } from '../../../streams/schedules/next-fire.ts'
import { eraAt, zoneOf } from '../../../streams/schedules/zone.ts'
import { usually } from '../../setup/long.ts'
import { allZones, cronText, type Dice, seeded } from './differential-sample.ts'
import { iso, source } from './samples.ts'

/** Ends a test that hangs on a busy machine. No assertion depends on it. */
const limitMs = 300_000
const expressionsOfZone = usually(8, 30)
const questionsOfExpression = 8
const hour = 3_600_000
const day = 24 * hour

interface Answers {
  cron: string
  timezone: string
  from: number
  ours: number | null
  theirs: number | string
}

/**
 * What the two may differ in, and who is right. A difference that no line explains fails the test.
 *
 * | class | they say | right | why |
 * | --- | --- | --- | --- |
 * | every hour | `15 * * * *` has a step too many or too few where a gap or an overlap is not whole hours | ours | it goes by elapsed time: each reading of the clock is one step |
 * | gave up | "loop limit exceeded" | ours | the time that we name matches the expression |
 * | overlap at midnight | the second of the two times that the first hour of a day has | ours | asked for the first, as they answer everywhere else |
 * | two hours | Troll leaves out two hours; a time in them is moved by one | ours | SHIFT moves by the length of the gap |
 * | gap at 22:00 | Nuuk leaves out an hour late in the evening; a time before it on the same day is lost | ours | 19:00 came on that day |
 * | gap inside an hour | Chatham goes from 02:45 to 03:45: for `25-54 3 * * *` they begin with the moved 03:25, at 04:25 | ours | 03:45 comes, and comes first |
 */
const classes: Record<string, (answers: Answers) => boolean> = {
  'every hour': ({ cron, from, timezone }) => cronRecurrence(cron).everyHour && nearChange(timezone, from),
  'gave up': ({ theirs, ours }) => typeof theirs === 'string' && ours !== null,
  'overlap at midnight': ({ ours, theirs, timezone }) => {
    const era = eraAt(timezone, ours ?? 0)
    return ours !== null && era.until - ours <= hour && typeof theirs === 'number' && theirs - ours === hour
  },
  'two hours': ({ timezone, from }) => timezone === 'Antarctica/Troll' && nearChange(timezone, from),
  'gap inside an hour': ({ timezone, from }) => timezone === 'Pacific/Chatham' && nearChange(timezone, from),
  'gap at 22:00': ({ timezone, from }) => /Godthab|Nuuk|Scoresbysund/.test(timezone) && nearChange(timezone, from),
}

function nearChange(timezone: string, at: number): boolean {
  const era = eraAt(timezone, at)
  return era.until - at < 2 * day || at - era.from < 2 * day
}

/** Differences that few generated questions reach. */
const pinned = [
  { cron: '20 0 * * *', timezone: 'America/Havana', from: Date.UTC(2024, 10, 2, 10, 15, 50) },
  { cron: '*/22 2 * * *', timezone: 'Antarctica/Troll', from: Date.UTC(2024, 2, 30, 4, 19, 13) },
  { cron: '23-45 3,13 * * *', timezone: 'Australia/Lord_Howe', from: Date.UTC(2024, 3, 6, 11, 3, 45) },
  { cron: '44 21 * * *', timezone: 'America/Nuuk', from: Date.UTC(2024, 2, 30, 1, 22, 43) },
  { cron: '* 3,20 * * *', timezone: 'Pacific/Chatham', from: Date.UTC(2026, 8, 26, 9, 39, 50) },
]

function askPinned({ cron, timezone, from }: (typeof pinned)[number]): Answers {
  const ours = nextFire(source({ cron, timezone, dstGap: 'SHIFT' }), from, from)
  return { cron, timezone, from, ours, theirs: theirNext(CronExpressionParser.parse(cron, { tz: timezone }), from) }
}

function ask(dice: Dice, timezone: string): Answers[] {
  const cron = cronText(dice)
  const rule = source({ cron, timezone, dstGap: 'SHIFT' })
  const parser = CronExpressionParser.parse(cron, { tz: timezone })
  return Array.from({ length: questionsOfExpression }, () => {
    const somewhere = Date.UTC(2024, 0, 1) + dice.upTo(3 * 365) * day + dice.upTo(86_400) * 1000
    const change = zoneOf(timezone).kind === 'zoned' && dice.chance(0.5) ? eraAt(timezone, somewhere).until : undefined
    const from = change === undefined ? somewhere : change - dice.upTo(26 * 3600) * 1000
    return { cron, timezone, from, ours: nextFire(rule, from, from), theirs: theirNext(parser, from) }
  })
}

function theirNext(parser: ReturnType<typeof CronExpressionParser.parse>, from: number): number | string {
  try {
    parser.reset(new Date(from))
    return parser.next().getTime()
  } catch (error) {
    return String(error)
  }
}

describe('cron, asked in every zone', () => {
  it('is due when a second implementation agrees, except for explained differences', { timeout: limitMs }, () => {
    const dice = seeded(20_260_101)
    const unexplained: string[] = []
    const explained = new Set<string>()
    let asked = 0
    const judge = (answers: Answers): void => {
      asked++
      const { cron, timezone, from, ours, theirs } = answers
      if (ours === theirs) return
      const found = Object.keys(classes).find((name) => classes[name]?.(answers))
      if (found !== undefined) explained.add(found)
      else unexplained.push(`${cron} ${timezone} ${iso(from)}: ${iso(ours)}, not ${theirs}`)
    }
    for (const question of pinned) judge(askPinned(question))
    for (const timezone of allZones) {
      for (let index = 0; index < expressionsOfZone; index++) ask(dice, timezone).forEach(judge)
    }
    expect(unexplained).toEqual([])
    // A line of the table that explains no difference must be removed.
    expect([...explained].sort()).toEqual(Object.keys(classes).sort())
    expect(asked).toBeGreaterThanOrEqual(usually(25_000, 100_000))
  })
})
