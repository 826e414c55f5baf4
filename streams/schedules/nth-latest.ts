/**
 * The n-th last occurrence of a range, without a walk over the n − 1 behind it. It is found by counting, which is arithmetic for an
 * interval and costs a step for each day of a calendar: the last 100,000 of a cron of seconds are two days.
 */
import { countFires, latestFire, type ScheduleSource } from './next-fire.ts'

/** So few occurrences are walked over one by one: that costs less than to count them once more. */
const walkedMax = 50
/** How far back the first look goes; each further one goes twice as far. */
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
  // There are n or more after `low`, and fewer after `high`: the one that is sought lies between them.
  for (let guess = 0; low.count - high.count > walkedMax; guess++) {
    const widthMs = high.at - low.at
    // In turns where it would be if they were spread evenly, and the middle, which halves the rest however they are spread.
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
