/**
 * Compares each daylight saving policy with a minute-by-minute walk of the clock, for every zone whose clocks change in two
 * years. This file asks Intl for the clock times itself, and uses only the tested code of streams/schedules.
 */
import { expect, it } from 'vitest'
import type { Schedule } from '../../../schemas/generated.ts'
import { occurrences } from '../../../streams/schedules/next-fire.ts'
import { allZones, type Dice, seeded } from './differential-sample.ts'
import { iso, source } from './samples.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour
/** Ends a test that hangs on a busy machine. No assertion depends on it. */
const limitMs = 300_000
const questionsOfChange = 6

/** The time that clocks in a zone show, as if it were UTC. */
function clockOf(timeZone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' })
  return (at) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`)
}

/** Minutes at which clocks change. */
function changesOf(shows: (at: number) => number, from: number, to: number): number[] {
  const changes: number[] = []
  for (let at = from; at < to; at += day) {
    if (shows(at + day) - shows(at) === day) continue
    let [before, behind] = [at, at + day]
    while (behind - before > minute) {
      const middle = before + Math.floor((behind - before) / 2 / minute) * minute
      if (shows(middle) - middle === shows(at) - at) before = middle
      else behind = middle
    }
    changes.push(behind)
  }
  return changes
}

type Policy = Pick<Schedule, 'dstGap' | 'dstOverlap'>
interface Times {
  hours: number[]
  minutes: number[]
}

/** The instants of the given times of day, from `first` to `last`. */
function byTheClock(walls: readonly { at: number; wall: number }[], { hours, minutes }: Times, policy: Policy): Set<number> {
  const found = new Set<number>()
  const days = new Set(walls.map(({ wall }) => Math.floor(wall / day)))
  for (const date of days) {
    for (const wanted of hours.flatMap((of) => minutes.map((at) => date * day + of * hour + at * minute))) {
      const shown = walls.filter(({ wall }) => wall === wanted).map(({ at }) => at)
      if (policy.dstOverlap === 'BOTH') for (const at of shown) found.add(at)
      else if (shown.length > 0) found.add(shown[policy.dstOverlap === 'FIRST' ? 0 : shown.length - 1] as number)
      if (shown.length > 0 || policy.dstGap === 'SKIP') continue
      const index = walls.findIndex(({ wall }) => wall > wanted)
      const [before, behind] = [walls[index - 1], walls[index]]
      if (before === undefined || behind === undefined) continue
      found.add(policy.dstGap === 'NEXT_VALID' ? behind.at : before.at + wanted - before.wall)
    }
  }
  return found
}

function scheduleOf(dice: Dice, { hours, minutes }: Times, timezone: string, policy: Policy, begin: number): Partial<Schedule> {
  if (dice.chance(0.5)) return { cron: `${minutes.join(',')} ${hours.join(',')} * * *`, timezone, ...policy }
  const rrule = `FREQ=DAILY;BYHOUR=${hours.join(',')};BYMINUTE=${minutes.join(',')};BYSECOND=0`
  return { rrule, timezone, ...policy, dtstart: begin }
}

it('each policy gives the right times around every change of every clock', { timeout: limitMs }, () => {
  const dice = seeded(40)
  const wrong: string[] = []
  let asked = 0
  for (const timezone of allZones) {
    const shows = clockOf(timezone)
    for (const change of changesOf(shows, Date.UTC(2025, 0, 1), Date.UTC(2026, 0, 1))) {
      const [first, last] = [change - 30 * hour, change + 30 * hour]
      const walls = Array.from({ length: (last - first) / minute + 1 }, (_, index) => {
        const at = first + index * minute
        return { at, wall: shows(at) }
      })
      const jumpsAt = Math.floor((shows(change - minute) % day) / hour)
      for (let question = 0; question < questionsOfChange; question++) {
        const near = [jumpsAt, (jumpsAt + 1) % 24, (jumpsAt + 23) % 24, (jumpsAt + 2) % 24]
        const hours = [...new Set([dice.pick(near), ...dice.some(0, 23, 3)])].sort((a, b) => a - b)
        const times = { hours, minutes: dice.some(0, 59, 3) }
        const policy: Policy = {
          dstGap: dice.pick(['NEXT_VALID', 'SKIP', 'SHIFT']),
          dstOverlap: dice.pick(['FIRST', 'LAST', 'BOTH']),
        }
        const schedule = scheduleOf(dice, times, timezone, policy, first - 40 * day)
        const range = { from: first + 3 * hour, to: last - 3 * hour }
        const ours = [...occurrences(source(schedule), first - 40 * day, range)]
        const theirs = [...byTheClock(walls, times, policy)]
          .filter((at) => at >= range.from && at < range.to)
          .sort((a, b) => a - b)
        asked++
        if (ours.join() !== theirs.join()) wrong.push(`${JSON.stringify(schedule)}: ${ours.map(iso)}, not ${theirs.map(iso)}`)
      }
    }
  }
  expect(wrong).toEqual([])
  expect(asked).toBeGreaterThan(1_000)
})
