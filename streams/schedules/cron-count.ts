/**
 * Counts occurrences of a cron expression without visiting each. On a day on which it fires at all, it fires at every combination
 * of its hours, minutes and seconds; so a day whose offset does not change takes one step, whatever fires in it,
 * and a day with a change a step for each hour.
 */
import { CronPattern } from 'croner'
import { BoundedCache } from './bounded-cache.ts'
import { nextCron } from './cron.ts'
import { zoneOf } from './zone.ts'

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

/** Stretches of local time that are counted at once, the longest first. */
const spansMs = [dayMs, 3_600_000, 60_000] as const

/** Times of the clock from an occurrence's time of day, itself included, to the end of its day, hour or minute. */
function restOf(spanMs: (typeof spansMs)[number], { seconds, minutes, hours }: Clock, timeOfDayMs: number): number {
  const second = Math.floor(timeOfDayMs / 1000)
  const count = (of: number[], index: number): number => of[index] ?? 0
  // A single time of day may be moved to the end of a gap, where its clock does not show it; it is one all the same.
  if (count(seconds, 0) * count(minutes, 0) * count(hours, 0) === 1) return 1
  const inMinute = count(seconds, second % 60)
  if (spanMs === 60_000) return inMinute
  const inHour = inMinute + count(minutes, (Math.floor(second / 60) % 60) + 1) * count(seconds, 0)
  if (spanMs === 3_600_000) return inHour
  return inHour + count(hours, Math.floor(second / 3600) + 1) * count(minutes, 0) * count(seconds, 0)
}

/** Occurrences after `after` and not after `notAfter`, at most `max`. Throws RangeError for an unusable expression or zone. */
export function countCron(expression: string, timezone: string, after: number, notAfter: number, max: number): number {
  const zone = zoneOf(timezone)
  const offsetAt = zone.kind === 'zoned' ? zone.offsetAt : () => 0
  let count = 0
  let at = nextCron(expression, timezone, after)
  while (at !== null && at <= notAfter && count < max) {
    const offsetMs = offsetAt(at)
    const local = at + offsetMs
    let counted = 1
    let last = at
    for (const spanMs of spansMs) {
      const end = (Math.floor(local / spanMs) + 1) * spanMs - offsetMs
      // The same offset at both ends of a day or less means that it did not change between.
      if (end - 1 > notAfter || offsetAt(end) !== offsetMs) continue
      counted = restOf(spanMs, clocks.get(expression), ((local % dayMs) + dayMs) % dayMs)
      last = end - 1
      break
    }
    count += counted
    at = nextCron(expression, timezone, last)
  }
  return Math.min(count, max)
}
