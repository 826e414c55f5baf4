/**
 * The n-th last occurrence of a range, found without visiting the n − 1 after it. It is found by counting, which is arithmetic for an
 * interval and one step per day for a calendar: the last 100,000 occurrences of a cron that fires every second are in two days.
 */
import { countFires, latestFire, type ScheduleSource } from './next-fire.ts'

/** Up to this number of occurrences are visited one by one, which costs less than another count. */
const walkedMax = 50
/** The range of the first search; each further search covers twice as much. */
const firstSpanMs = 3_600_000

/** The n-th last nominal time after `after` and not after `notAfter`; null when there are fewer than n. */
export function nthLatestFire(
  definition: ScheduleSource,
  appendedAt: number,
  after: number,
  notAfter: number,
  n: number,
): number | null {
  const countAfter = (at: number, max?: number): number => countFires(definition, appendedAt, at, notAfter, max)
  if (countAfter(after, n) < n) return null
  let high = { at: notAfter, count: 0 }
  let low = high
  for (let spanMs = firstSpanMs; low.count < n; spanMs *= 2) {
    high = low
    const at = Math.max(after, notAfter - spanMs)
    low = { at, count: countAfter(at) }
  }
  // n or more occurrences are after `low` and fewer are after `high`, so the result is between them.
  for (let guess = 0; low.count - high.count > walkedMax; guess++) {
    const widthMs = high.at - low.at
    // Alternately: the estimate for evenly spread occurrences, and the middle, which halves the rest for any distribution.
    const share = guess % 2 === 0 ? (low.count - n) / (low.count - high.count) : 0.5
    const at = low.at + Math.min(Math.max(1, Math.round(share * widthMs)), widthMs - 1)
    const found = { at, count: countAfter(at) }
    if (found.count < n) high = found
    else low = found
  }
  let at = latestFire(definition, appendedAt, after, high.at)
  for (let left = n - high.count; left > 1 && at !== null; left--) at = latestFire(definition, appendedAt, after, at - 1)
  return at
}
