/** What an audit finds and counts, within its scope. */

/**
 * lost: a run that was created, and whose end is unknown. missed: an occurrence without a run. duplicate: one attempt dispatched
 * twice, or two runs for one nominal time. early: started before it was due. overdue: a job that waits for a time that has passed.
 * undispatched: an attempt whose status is dispatched or ended, without a dispatch in the log. gap: a run number that no run has.
 * ended-twice: a run that ended, and then ended or continued again.
 */
export const findingKinds = ['lost', 'missed', 'duplicate', 'early', 'overdue', 'undispatched', 'gap', 'ended-twice'] as const
export type FindingKind = (typeof findingKinds)[number]

export interface Finding {
  kind: FindingKind
  /** Job id, or run as `jobId/runNo`. */
  what: string
  detail: string
}

export interface Scope {
  /** Nominal times from here on, epoch ms. */
  from: number
  /** Exclusive. */
  to: number
  /** How long after its due time a record may still arrive, in ms. */
  graceMs: number
}

/** Why something cannot be judged: its job has too many open runs; its definition was not read; its calendar is too long, or skips too much. */
export const unjudgedReasons = ['runs', 'definition', 'calendar'] as const
type Unjudged = (typeof unjudgedReasons)[number]

/** The counts of an audit: plain data that is stored with the accounts. */
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
  /** Starts of first attempts. */
  lateness: LatenessCounts
}

const zeros = <Name extends string>(names: readonly Name[]): Record<Name, number> =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>

export function emptyTally(): Tally {
  return {
    ...{ runs: 0, occurrences: 0, succeeded: 0, dead: 0, retried: 0, startedAgain: 0, unreadable: 0, records: 0 },
    ...{ findings: zeros(findingKinds), unjudged: zeros(unjudgedReasons), lateness: emptyLateness() },
  }
}

/** Collects what the reviews find, and keeps the counts. */
export class Findings {
  readonly scope: Scope
  readonly #onFinding: (finding: Finding) => void
  tally: Tally = emptyTally()

  /** `onFinding`: called for each finding in the scope. */
  constructor(scope: Scope, onFinding: (finding: Finding) => void) {
    this.scope = scope
    this.#onFinding = onFinding
  }

  /** `nominal`: the nominal time of the finding; undefined: it has none. Findings outside the scope are dropped. */
  find(kind: FindingKind, what: string, detail: string, nominal: number | undefined): void {
    const { from, to } = this.scope
    if (nominal !== undefined && nominal >= 0 && (nominal < from || nominal >= to)) return
    this.tally.findings[kind]++
    this.#onFinding({ kind, what, detail })
  }

  /** Something cannot be judged. */
  unjudged(reason: Unjudged): void {
    this.tally.unjudged[reason]++
  }
}

/** Plain data, so that it can be stored. */
export interface LatenessCounts {
  counts: number[]
  max: number
}

/** Start of a first attempt after the time it was due, in ms. */
export interface Lateness {
  p50: number
  p99: number
  max: number
}

const exactMs = 100
const steps = 1.01

export const emptyLateness = (): LatenessCounts => ({ counts: [], max: 0 })

export function noteLateness(lateness: LatenessCounts, lateMs: number): void {
  const late = Math.max(0, Math.round(lateMs))
  const slot = late < exactMs ? late : exactMs + Math.floor(Math.log(late / exactMs) / Math.log(steps))
  while (lateness.counts.length <= slot) lateness.counts.push(0)
  lateness.counts[slot] = (lateness.counts[slot] ?? 0) + 1
  lateness.max = Math.max(lateness.max, late)
}

/** Undefined when nothing started. */
export function latenessOf({ counts, max }: LatenessCounts): Lateness | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const of = (share: number): number => {
    let left = Math.ceil(total * share)
    const slot = counts.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return Math.min(max, slot < exactMs ? slot : Math.round(exactMs * steps ** (slot - exactMs + 1)))
  }
  return { p50: of(0.5), p99: of(0.99), max }
}

/** The rows of a closing table: name and value. */
export function latenessRows(lateness: Lateness | undefined): [name: string, value: string][] {
  const names = ['p50', 'p99', 'max'] as const
  const text = (ms: number | undefined): string => (ms === undefined ? 'unknown' : `${ms.toLocaleString('en-US')} ms`)
  return names.map((name) => [`start lateness, ${name}`, text(lateness?.[name])])
}
