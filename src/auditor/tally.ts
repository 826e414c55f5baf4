/** The counts of an audit: plain data that is stored with the accounts. */
import { type FindingKind, findingKinds, type Unjudged, unjudgedReasons } from './finding.ts'

export interface Tally {
  /** Runs that are judged. */
  runs: number
  /** Nominal times that are judged by the calendar. */
  occurrences: number
  succeeded: number
  dead: number
  /** Runs with more than one attempt. */
  retried: number
  /** Attempts with more than one start. Workers run at least once, so this is no fault of the schedule. */
  startedAgain: number
  /** Records that are not Duelog's, or broken. */
  unreadable: number
  records: number
  findings: Record<FindingKind, number>
  unjudged: Record<Unjudged, number>
  /** Starts of first attempts by how late they were: noteLateness. */
  lateness: { counts: number[]; max: number }
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>

export function emptyTally(): Tally {
  return {
    ...{ runs: 0, occurrences: 0, succeeded: 0, dead: 0, retried: 0, startedAgain: 0, unreadable: 0, records: 0 },
    ...{ findings: zeros(findingKinds), unjudged: zeros(unjudgedReasons), lateness: { counts: [], max: 0 } },
  }
}

/** Exact below 100 ms, then within one percent. */
const exactMs = 100
const steps = 1.01

export function noteLateness({ lateness }: Tally, lateMs: number): void {
  const late = Math.max(0, Math.round(lateMs))
  const slot = late < exactMs ? late : exactMs + Math.floor(Math.log(late / exactMs) / Math.log(steps))
  while (lateness.counts.length <= slot) lateness.counts.push(0)
  lateness.counts[slot] = (lateness.counts[slot] ?? 0) + 1
  lateness.max = Math.max(lateness.max, late)
}

/** In ms; undefined when nothing started. */
export function latenessOf({ lateness }: Tally): { p50: number; p99: number; max: number } | undefined {
  const total = lateness.counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const of = (share: number): number => {
    let left = Math.ceil(total * share)
    const slot = lateness.counts.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return Math.min(lateness.max, slot < exactMs ? slot : Math.round(exactMs * steps ** (slot - exactMs + 1)))
  }
  return { p50: of(0.5), p99: of(0.99), max: lateness.max }
}
