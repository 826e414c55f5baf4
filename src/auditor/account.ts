/**
 * The account of a job: what the log says of it and is not judged yet. It is plain data, so that it can be put aside and taken up again.
 * Records of different topics may come in any order: each is noted here, and judged (review.ts) only when all topics were read further.
 */
import type { JobDefinition, RunStatus, Trigger } from '../../schemas/index.ts'
import { isPresentLife, type Lives } from './lives.ts'
import type { NumberSet } from './number-set.ts'

/** Of a time or offset: nothing was read of it. Real ones are positive or zero. */
export const unknown = -1

export interface AttemptAccount {
  attempt: number
  /** From when it might start. */
  dueAt: number
  dispatches: number
  startedAt: number
  /** Who started it, and when: a second one is another start. The first few. */
  starts: string[]
}

export interface RunAccount {
  runNo: number
  /** Unknown: only a finished run was read, which does not say it. */
  specOffset: number
  scheduledFor: number
  trigger: Trigger
  dispatchedAt: number
  startDeadlineAt: number
  /** False: nothing is heard of it once it is dispatched. */
  tracked: boolean
  attempts: AttemptAccount[]
  /** Whether the state of its job has named it. */
  named: boolean
  /** As the state has it while it is under way. */
  status: RunStatus | null
  /** Attempt that the state has it at. */
  attempt: number
  /** How the state says that it ended. */
  end: RunStatus | null
  finishedAt: number
  /** Whether the owner wrote the record that is all of it to a topic of the user's. */
  delivered: boolean
  /** How reports and dead letters say that it ended. */
  reported: 'succeeded' | 'dead' | null
  /** Records in topics of the user's. */
  records: number
  /** Latest broker or producer time of a record of it, none in the future. */
  lastAt: number
  /** What was found already, so that it is told once. */
  found: string[]
}

/** What the calendar is computed from. */
export interface Plan {
  offset: number
  appendedAt: number
  /** Undefined: it was refused, or could not be read. */
  spec: PlanSpec | undefined
}
export type PlanSpec = Pick<JobDefinition, 'schedule' | 'startAt' | 'endAt' | 'jitterMs' | 'paused'> & {
  /** Its runs go to the workers of a pool, without a limit that may keep them back. */
  plain: boolean
  pinned: boolean
  /** Topic of the user's that its runs are written to. */
  topic: string | null
}

/** What the last state says that later ones are compared with. */
export interface StateSummary {
  status: string
  waiting: boolean
  specOffset: number
  anchorAt: number
  timesHash: number
  nextFireAt: number | null
  nextDueAt: number | null
  runNo: number
  scheduledRuns: number
  skipped: number
  queuedFor: number | null
  lastRunNo: number
  lastFinishedAt: number
  /** Runs that ended without success. */
  unsuccessful: number
  /** Numbers of the runs that wait for a limit. */
  waitingRuns: number[]
}

/** A scheduled run by its nominal time. */
export type Fired = [nominal: number, runNo: number, specOffset: number]

/** How far the calendar has been compared with the runs. */
export interface CalendarAccount {
  anchorAt: number
  timesHash: number
  /** Nominal times before it are judged. */
  since: number
  /** Counts of the state that went with `since`. */
  skipped: number
  scheduledRuns: number
  /** What was queued then: it becomes a run, or one more skip. */
  queuedFor: number | null
}

/** A state whose occurrences are judged when everything else was read as far. */
export interface PendingCalendar extends StateSummary {
  at: number
}

export interface JobAccount extends Lives {
  id: string
  /** The definition in force, and those that states may still refer to. Ascending by offset. */
  plans: Plan[]
  /** Undefined: none was read, or the job is gone. */
  state: StateSummary | undefined
  stateAt: number
  runs: Map<number, RunAccount[]>
  /** Runs of this life that are judged, and of these the ones whose end the state had said. */
  closed: NumberSet
  ended: NumberSet
  /** Runs up to this number may have been named by states that compaction has taken. */
  hiddenTo: number
  calendar: CalendarAccount | undefined
  pending: PendingCalendar | undefined
  fired: Fired[]
  /** Due time that was found to have passed. */
  overdueAt: number
  deletedAt: number
  lastAt: number
  /** When it is to be looked at, as it is in the index; undefined: not at all. */
  checkAt: number | undefined
  /** The same as the index in the store has it. */
  indexedAt: number | undefined
}

export function openAccount(id: string): JobAccount {
  return {
    ...{ id, plans: [], state: undefined, stateAt: unknown, pastSpec: unknown, runs: new Map(), closed: [], ended: [] },
    ...{ hiddenTo: 0, calendar: undefined, pending: undefined, fired: [], lives: [], overdueAt: unknown },
    ...{ deletedAt: unknown, lastAt: unknown, checkAt: undefined, indexedAt: undefined },
  }
}

export function runsOf({ runs }: JobAccount): RunAccount[] {
  return [...runs.values()].flat()
}

/** Of the last life only: a job that was deleted takes its runs along. */
export const livesStill = (account: JobAccount, { specOffset }: Pick<RunAccount, 'specOffset'>): boolean =>
  isPresentLife(account, specOffset)

export function planOf({ plans }: JobAccount, specOffset: number): Plan | undefined {
  return plans.find(({ offset }) => offset === specOffset)
}

/** Finds the account of a run, or opens it. Undefined: the job has too many open ones. */
export function runOf(
  account: JobAccount,
  runNo: number,
  specOffset: number,
  scheduledFor: number,
  runsMax: number,
): RunAccount | undefined {
  const same = account.runs.get(runNo)
  const found =
    same?.find((run) => run.specOffset === specOffset && specOffset !== unknown) ??
    same?.find((run) => mayBe(account, run, specOffset, scheduledFor))
  if (found !== undefined) {
    if (found.specOffset === unknown) found.specOffset = specOffset
    if (found.scheduledFor === unknown) found.scheduledFor = scheduledFor
    return found
  }
  if (account.runs.size >= runsMax) return undefined
  const run: RunAccount = {
    ...{ runNo, specOffset, scheduledFor, trigger: 'SCHEDULE', dispatchedAt: unknown, startDeadlineAt: 0, tracked: true },
    ...{ attempts: [], named: false, status: null, attempt: 0, end: null, finishedAt: unknown, delivered: false },
    ...{ reported: null, records: 0, lastAt: unknown, found: [] },
  }
  if (same === undefined) account.runs.set(runNo, [run])
  else same.push(run)
  return run
}

/** A finished run does not say which definition it was made from; its nominal time tells. */
function mayBe(account: JobAccount, run: RunAccount, specOffset: number, scheduledFor: number): boolean {
  if (run.specOffset !== unknown && specOffset !== unknown) return false
  if (!isPresentLife(account, Math.max(run.specOffset, specOffset))) return false
  return run.scheduledFor === unknown || scheduledFor === unknown || run.scheduledFor === scheduledFor
}

export function attemptOf(run: RunAccount, attempt: number): AttemptAccount {
  let found = run.attempts.find((each) => each.attempt === attempt)
  if (found === undefined) {
    found = { attempt, dueAt: unknown, dispatches: 0, startedAt: unknown, starts: [] }
    run.attempts.push(found)
  }
  return found
}
