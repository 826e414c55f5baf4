/**
 * Compares what should have fired by the calendar of a definition with what fired. Intervals and instants are computed here from
 * the definition. Cron and rrule come from streams/schedules, which the owners use too: no second calendar is kept.
 */
import { nextFire, stepsSpent } from '../../../streams/schedules/index.ts'
import { counted as counts } from '../../../streams/text/index.ts'
import { type Fired, type JobAccount, livesOf, type PendingCalendar, planOf, unknown } from './accounts/index.ts'
import type { Findings } from './findings/index.ts'
import type { CompleteTimes, PlanSpec } from './reading/index.ts'

/** Largest number of nominal times of one job that are judged at once. */
const timesMax = 100_000
/** Largest number of search steps (ADR 0058) for these times of one job: about a fifth of a second, in pieces. */
export const timesStepsMax = 20_000_000
/** Owners count the occurrences that one move by new rules of a time zone skips up to this number. Beyond it their count may be too low. */
const skipsCountedMax = 1_000
/** Largest number of runs by nominal time that are kept of a job, and how many of them may be judged. */
const firedMax = 10_000
const firedKept = 16

/** How far all topics were read. */
export interface Progress {
  /** All topics were read up to it, epoch ms. */
  watermark: number
  /** Whether the watermark is the present: a record that is absent then will not come. */
  isPresent: boolean
  /** Nothing more will be read: the last facts are judged without a grace. */
  isFinal?: boolean
  /** Times from which dispatches in executions topics, and those in worker-control, are complete. Retention removed earlier ones. */
  completeFrom: CompleteTimes
  /** Topics of the user that were read from their beginning. */
  targetTopics?: ReadonlySet<string>
  /** Whether a pool is paused now, by the topic `pauses`. */
  isPaused(pool: string): boolean
}

/** First nominal time after `after`; null when there is none. `anchorAt`: append time that the schedule counts from. */
export function occurrenceAfter(spec: PlanSpec, anchorAt: number, after: number): number | null {
  const { schedule, startAt, endAt } = spec
  const last = endAt ?? Number.POSITIVE_INFINITY
  const withinRange = (at: number): number | null => (at > after && at <= last ? at : null)
  if (schedule.at !== null) return schedule.at >= (startAt ?? schedule.at) ? withinRange(schedule.at) : null
  if (schedule.delayMs !== null) return withinRange(Math.max(anchorAt + schedule.delayMs, startAt ?? 0))
  if (schedule.everyMs === null) return nextFire(spec, anchorAt, after)
  const { everyMs, anchor, exdates } = schedule
  const base = anchor ?? startAt ?? anchorAt
  const opens = startAt !== null && startAt >= anchorAt ? startAt : anchorAt + 1
  const least = Math.max(after + 1, opens, anchor !== null && anchor > anchorAt ? anchor : opens)
  // A remainder in place of a division: the first point of the grid that is not before `least`.
  const rest = (((base - least) % everyMs) + everyMs) % everyMs
  let at = least + rest
  while (exdates.includes(at)) at += everyMs
  return at <= last ? at : null
}

/** Holds the present state for the calendar, unless an earlier state still waits for judgement. */
export function holdCalendar(account: JobAccount): void {
  const { state, calendar, pending, stateAt } = account
  if (state === undefined || pending !== undefined || state.status !== 'ACTIVE' || state.nextFireAt === null) return
  if (calendar?.since === state.nextFireAt) return
  account.pending = { ...state, at: stateAt }
}

/**
 * Judges the occurrences up to the state that was held. Occurrences that the owner counts as skipped, or has queued, are not missed.
 * It yields after each search for a time.
 */
export function* judgeCalendar(
  account: JobAccount,
  pending: PendingCalendar,
  { completeFrom }: Progress,
  findings: Findings,
): Generator<void, void, undefined> {
  account.pending = undefined
  const { nextFireAt, anchorAt, timesHash, skipped, scheduledRuns, runNo, queuedFor } = pending
  const plan = planOf(account, pending.specOffset)
  const { calendar } = account
  account.calendar = { anchorAt, timesHash, since: nextFireAt ?? unknown, skipped, scheduledRuns, runNo, queuedFor }
  if (plan?.spec === undefined) return findings.unjudged('definition')
  const { spec, appendedAt } = plan
  if (spec.schedule.from === 'END' || nextFireAt === null) return
  const born = calendar === undefined
  if (born && anchorAt !== appendedAt) return
  const first = born ? occurrenceAfter(spec, anchorAt, Number.NEGATIVE_INFINITY) : calendar.since
  if (first === null || first === unknown) return
  const begin = { skipped: calendar?.skipped ?? 0, runs: calendar?.scheduledRuns ?? 0, queuedFor: calendar?.queuedFor ?? null }
  // Of more runs than are kept, the earliest are forgotten.
  const keptFrom = account.fired.length < firedMax ? 0 : Math.min(...account.fired.map(([nominal]) => nominal))
  const from = Math.max(first, keptFrom, findings.scope.from, born ? completeFrom.executions : 0)
  const times = yield* timesIn(spec, anchorAt, from, Math.min(nextFireAt, findings.scope.to))
  if (times === undefined) return findings.unjudged('calendar')
  const fired = new Set(account.fired.map(([nominal]) => nominal))
  const missed = times.filter((at) => !fired.has(at))
  findings.tally.occurrences += times.length
  // An occurrence that was queued then and is no longer queued has become a run, or was skipped.
  const resolved = begin.queuedFor !== null && queuedFor !== begin.queuedFor && !fired.has(begin.queuedFor) ? 1 : 0
  const queued = queuedFor !== null && queuedFor >= first ? 1 : 0
  const excused = skipped - begin.skipped - resolved + queued
  const unseen = spec.plain ? 0 : Math.max(0, scheduledRuns - begin.runs - account.fired.filter(([at]) => at >= first).length)
  if (missed.length <= excused + unseen) return
  if (excused >= skipsCountedMax || (account.unnotedTo ?? 0) > (calendar?.runNo ?? 0)) return findings.unjudged('calendar')
  const counted = excused === 0 ? '' : ` (${counts(excused, 'was', 'were')} skipped by its policies)`
  const detail = `${counts(missed.length, 'occurrence has', 'occurrences have')} no run${counted}, the first ${new Date(missed[0] ?? 0).toISOString()}`
  findings.find('missed', account.id, detail, missed[0])
}

/** The nominal times in a range. Undefined: there are too many, or the search takes too long. */
function* timesIn(
  spec: PlanSpec,
  anchorAt: number,
  from: number,
  until: number,
): Generator<void, number[] | undefined, undefined> {
  const times: number[] = []
  let searched = 0
  const next = (after: number): number | null => {
    const before = stepsSpent()
    const found = occurrenceAfter(spec, anchorAt, after)
    searched += stepsSpent() - before
    return found
  }
  let at = next(from - 1)
  while (at !== null && at < until) {
    if (times.length === timesMax || searched > timesStepsMax) return undefined
    times.push(at)
    yield
    at = next(at)
  }
  return times
}

/** One nominal time with two runs of one life of the job. */
export function doubleOccurrences(account: JobAccount, findings: Findings): void {
  const byNominal = Map.groupBy(account.fired, ([nominal]) => nominal)
  if (byNominal.size === account.fired.length) return
  const lives = livesOf(account)
  const doubled = new Set<Fired>()
  for (const [nominal, fired] of byNominal) {
    for (const same of Map.groupBy(fired, ([, , specOffset]) => lives(specOffset)).values()) {
      const [first, ...others] = same.sort(([, a], [, b]) => a - b)
      for (const other of others) {
        doubled.add(other)
        findings.find(
          'duplicate',
          account.id,
          `${new Date(nominal).toISOString()} is run ${first?.[1]} and run ${other[1]}`,
          nominal,
        )
      }
    }
  }
  account.fired = account.fired.filter((each) => !doubled.has(each))
}

/** Forgets judged runs except the last ones, so that a duplicate of a recent run is still recognized. */
export function trimFired(account: JobAccount): void {
  const since = account.calendar?.since ?? unknown
  // A job that does not fire now may be resumed: what fired before is then judged with what fires after it. Compaction may have removed
  // earlier states: then its first state comes after many runs, and is judged with all of them.
  const open = account.state?.status !== 'COMPLETED' && account.state?.nextFireAt !== null
  if (account.fired.length <= firedKept) return
  const sorted = account.fired.sort(([a], [b]) => a - b)
  const kept = sorted.findIndex(([nominal]) => nominal >= since)
  const from = !open || kept < 0 ? sorted.length - firedKept : Math.max(0, kept - firedKept)
  account.fired = sorted.slice(Math.max(from, sorted.length - firedMax))
}
