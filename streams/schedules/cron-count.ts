/**
 * Counts occurrences of a cron expression without visiting each. On a day on which it fires at all, it fires at every combination
 * of its hours, minutes and seconds; so a day whose offset does not change takes one step, whatever fires in it.
 */
import { CronPattern } from 'croner'
import { BoundedCache } from './bounded-cache.ts'
import { nextCron } from './cron.ts'
import { isSteady, steadyOffset, zoneOf } from './zone.ts'

/** Clock readings kept in memory, at about 2 KB each. */
const clocksMax = 256
const dayMs = 86_400_000

/** For each of seconds, minutes and hours: how many values of the expression are at or above an index. */
interface Clock {
  seconds: number[]
  minutes: number[]
  hours: number[]
}

const clocks = new BoundedCache<Clock>(clocksMax, (expression) => {
  const pattern = new CronPattern(expression, undefined, { mode: '5-or-6-parts' })
  return { seconds: atOrAbove(pattern.second), minutes: atOrAbove(pattern.minute), hours: atOrAbove(pattern.hour) }
})

function atOrAbove(values: readonly number[]): number[] {
  const counts = new Array<number>(values.length + 1).fill(0)
  for (let index = values.length - 1; index >= 0; index--) counts[index] = (counts[index + 1] ?? 0) + (values[index] ? 1 : 0)
  return counts
}

/** Times of the clock at or after this time of day, which itself must be one of them. */
function restOfDay({ seconds, minutes, hours }: Clock, timeOfDayMs: number): number {
  const second = Math.floor(timeOfDayMs / 1000)
  const count = (of: number[], index: number): number => of[index] ?? 0
  const [h, m, s] = [Math.floor(second / 3600), Math.floor(second / 60) % 60, second % 60]
  return (
    count(hours, h + 1) * count(minutes, 0) * count(seconds, 0) + count(minutes, m + 1) * count(seconds, 0) + count(seconds, s)
  )
}

/** Occurrences after `after` and not after `notAfter`, at most `max`. Throws RangeError for an unusable expression or zone. */
export function countCron(expression: string, timezone: string, after: number, notAfter: number, max: number): number {
  const zone = zoneOf(timezone)
  const clock = clocks.get(expression)
  let count = 0
  let at = nextCron(expression, timezone, after)
  while (at !== null && at <= notAfter && count < max) {
    const offsetMs = zone.kind === 'zoned' ? steadyOffset(zone.name, at) : 0
    const local = at + offsetMs
    const dayEnd = Math.floor(local / dayMs) * dayMs + dayMs - offsetMs
    const whole = dayEnd - 1 <= notAfter && (zone.kind !== 'zoned' || isSteady(zone.name, offsetMs, at, dayEnd))
    count += whole ? restOfDay(clock, ((local % dayMs) + dayMs) % dayMs) : 1
    at = nextCron(expression, timezone, whole ? dayEnd - 1 : at)
  }
  return Math.min(count, max)
}
