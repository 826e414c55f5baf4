/** Generated schedules for comparisons. They are seeded, so every run gets the same schedules. */
import { mulberry32 } from '../../tools/mulberry32.ts'

/** Random choices that a seed repeats. */
export function seeded(seed: number): Dice {
  const next = mulberry32(seed)
  const upTo = (size: number): number => Math.floor(next() * size)
  return {
    upTo,
    between: (from, to) => from + upTo(to - from + 1),
    pick: (values) => values[upTo(values.length)] as (typeof values)[number],
    chance: (share) => next() < share,
    some: (from, to, most) => {
      const values = Array.from({ length: 1 + upTo(most) }, () => from + upTo(to - from + 1))
      return [...new Set(values)].sort((left, right) => left - right)
    },
  }
}

export interface Dice {
  upTo(size: number): number
  between(from: number, to: number): number
  pick<Value>(values: readonly Value[]): Value
  chance(share: number): boolean
  /** One to `most` different whole numbers, ascending. */
  some(from: number, to: number, most: number): number[]
}

export const allZones = Intl.supportedValuesOf('timeZone')

const weekdays = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN']

function cronField(dice: Dice, from: number, to: number, names?: readonly string[]): string {
  switch (dice.upTo(6)) {
    case 0:
      return '*'
    case 1:
      return `*/${dice.between(1, Math.min(30, to))}`
    case 2: {
      const first = dice.between(from, to)
      return `${first}-${dice.between(first, to)}`
    }
    case 3:
      return names === undefined ? dice.some(from, to, 4).join(',') : dice.pick(names)
    default:
      return String(dice.between(from, to))
  }
}

/** A cron expression of 5 or 6 fields. Few of them restrict the days, so most fire in any week. */
export function cronText(dice: Dice): string {
  const day = dice.chance(0.3) ? (dice.chance(0.2) ? 'L' : cronField(dice, 1, 28)) : '*'
  const weekday = dice.chance(0.3)
    ? dice.chance(0.2)
      ? `${dice.between(0, 6)}#${dice.between(1, 4)}`
      : cronField(dice, 0, 6, weekdays)
    : '*'
  const month = dice.chance(0.15) ? cronField(dice, 1, 12) : '*'
  const fields = [cronField(dice, 0, 59), cronField(dice, 0, 23), day, month, weekday]
  return [...(dice.chance(0.1) ? [cronField(dice, 0, 59)] : []), ...fields].join(' ')
}

const signed = (dice: Dice, values: readonly number[]): number[] => values.map((value) => (dice.chance(0.3) ? -value : value))

/** RRULE text with parts that may be combined. It may still have no occurrence. */
export function rruleText(dice: Dice): string {
  const freq = dice.pick([
    'YEARLY',
    'MONTHLY',
    'MONTHLY',
    'WEEKLY',
    'WEEKLY',
    'DAILY',
    'DAILY',
    'HOURLY',
    'MINUTELY',
    'SECONDLY',
  ] as const)
  const below = freq === 'HOURLY' || freq === 'MINUTELY' || freq === 'SECONDLY'
  const parts = [`FREQ=${freq}`]
  const list = (name: string, values: readonly (number | string)[]): number =>
    parts.push(`${name}=${[...new Set(values)].join(',')}`)
  if (dice.chance(0.4)) parts.push(`INTERVAL=${dice.between(1, dice.chance(0.2) ? 90 : 6)}`)
  if (dice.chance(0.2)) parts.push(`WKST=${dice.pick(['MO', 'SU', 'WE'])}`)
  if (dice.chance(0.2)) list('BYMONTH', dice.some(1, 12, 4))
  const weekNo = freq === 'YEARLY' && dice.chance(0.2)
  if (weekNo) list('BYWEEKNO', signed(dice, dice.some(1, 53, 3)))
  else if (freq === 'YEARLY' && dice.chance(0.15)) list('BYYEARDAY', signed(dice, dice.some(1, 366, 4)))
  else if (freq !== 'WEEKLY' && dice.chance(0.25)) list('BYMONTHDAY', signed(dice, dice.some(1, 31, 4)))
  if (dice.chance(0.35)) {
    const names = dice.some(0, 6, 4).map((day) => ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU'][day] ?? 'MO')
    const ordinals = !weekNo && (freq === 'YEARLY' || freq === 'MONTHLY') && dice.chance(0.4)
    list('BYDAY', ordinals ? names.map((name) => `${signed(dice, [dice.between(1, 4)])[0]}${name}`) : names)
  }
  if (dice.chance(below ? 0.2 : 0.3)) list('BYHOUR', dice.some(0, 23, 3))
  if (dice.chance(0.2)) list('BYMINUTE', dice.some(0, 59, 3))
  if (dice.chance(0.1)) list('BYSECOND', dice.some(0, 59, 2))
  if (parts.some((part) => /^BY/.test(part)) && dice.chance(0.15)) list('BYSETPOS', signed(dice, dice.some(1, 3, 2)))
  return parts.join(';')
}
