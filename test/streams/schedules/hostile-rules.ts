/** Rules with a long search: rare days, intervals that seldom match them, positions that no period has, counts that never end. */
import type { Schedule } from '../../../schemas/generated.ts'
import { completeDefinition } from '../../../streams/definitions/defaults.ts'
import type { Dice } from './differential-sample.ts'

const intervals = [2, 3, 7, 24, 25, 60, 61, 100, 365, 366, 400, 1000, 1440, 3600, 86_399, 86_400, 99_999, 100_000]
const weekdays = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const zones = ['UTC', 'Europe/Paris', 'Africa/Casablanca', 'Australia/Lord_Howe']
const far = Date.UTC(2900, 0, 1)

export function hostileRule(dice: Dice): string {
  const freq = dice.pick(['SECONDLY', 'MINUTELY', 'HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'] as const)
  const parts = [`FREQ=${freq}`]
  const signed = (value: number): number => (dice.chance(0.3) ? -value : value)
  const list = (name: string, values: readonly (number | string)[]): number =>
    parts.push(`${name}=${[...new Set(values)].join(',')}`)
  if (dice.chance(0.6)) parts.push(`INTERVAL=${dice.chance(0.8) ? dice.pick(intervals) : dice.between(1, 100_000)}`)
  if (dice.chance(0.4)) parts.push(`COUNT=${dice.pick([1, 100, 10_000, dice.between(1, 10_000)])}`)
  if (dice.chance(0.5)) list('BYMONTH', dice.chance(0.6) ? [2] : dice.some(1, 12, 2))
  if (dice.chance(0.5) && freq !== 'WEEKLY')
    list('BYMONTHDAY', (dice.chance(0.6) ? [dice.between(29, 31)] : dice.some(1, 31, 3)).map(signed))
  const hasYearDays = freq === 'YEARLY' || freq === 'HOURLY' || freq === 'MINUTELY' || freq === 'SECONDLY'
  if (hasYearDays && dice.chance(0.2)) list('BYYEARDAY', (dice.chance(0.5) ? [366] : dice.some(1, 366, 3)).map(signed))
  if (freq === 'YEARLY' && dice.chance(0.2)) list('BYWEEKNO', (dice.chance(0.5) ? [53] : dice.some(1, 53, 3)).map(signed))
  if (dice.chance(0.5)) {
    const numbered = (freq === 'YEARLY' || freq === 'MONTHLY') && dice.chance(0.3)
    const names = dice.some(0, 6, 2).map((day) => weekdays[day] ?? 'MO')
    list('BYDAY', numbered ? names.map((name) => `${dice.pick([5, -5, 1])}${name}`) : names)
  }
  for (const [name, most] of [
    ['BYHOUR', 23],
    ['BYMINUTE', 59],
    ['BYSECOND', 59],
  ] as const)
    if (dice.chance(0.4)) list(name, dice.some(0, most, dice.chance(0.2) ? most : 3))
  if (dice.chance(0.3)) list('BYSETPOS', dice.some(1, 366, dice.chance(0.3) ? 200 : 3).map(signed))
  return parts.join(';')
}

/** A definition with such a rule: any zone, a start long ago or far ahead, sometimes a window that opens in 2900. */
export function hostileDefinition(dice: Dice) {
  const schedule: Partial<Schedule> = {
    rrule: hostileRule(dice),
    timezone: dice.pick(zones),
    dtstart: dice.pick([0, Date.UTC(2000, 0, 1), Date.UTC(2026, 1, 3, 4, 5, 6), Date.UTC(2100, 0, 1)]),
    dstGap: dice.pick(['SKIP', 'SHIFT', 'NEXT_VALID'] as const),
    dstOverlap: dice.pick(['FIRST', 'BOTH'] as const),
  }
  return completeDefinition({ schedule, startAt: dice.chance(0.1) ? far : null, target: { handler: 'noop' } })
}
