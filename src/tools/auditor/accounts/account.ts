/**
 * The account of a job: facts from the log that are not judged yet; and the cache of the accounts, whose others are in a store. It is plain data, so that it can be stored and loaded again.
 * Records of different topics may come in any order. Each is noted here, and judged when all topics were read beyond its time
 * (src/tools/auditor/review).
 */
import type { RunStatus, Trigger } from '../../../../schemas/index.ts'
import type { Plan } from '../reading/index.ts'
import { isPresentLife, type Lives, type NumberSet, unknown } from './run-numbers.ts'

export interface AttemptAccount {
  attempt: number
  /** The earliest allowed start. */
  dueAt: number
  dispatches: number
  startedAt: number
  /** Worker and time of each start; another worker or another time is another start. Only the first few are kept. */
  starts: string[]
}

export interface RunAccount {
  runNo: number
  /** Unknown when only a finished run was read, because that record does not name its definition. */
  specOffset: number
  scheduledFor: number
  trigger: Trigger
  dispatchedAt: number
  startDeadlineAt: number
  attempts: AttemptAccount[]
  /** Whether a state of its job has named this run. */
  named: boolean
  /** Status by the last state, while the run is active. */
  status: RunStatus | null
  /** Attempt by the last state. */
  attempt: number
  /** Whether it waits for its pool to be resumed, by the last state. */
  waitsForPool?: boolean
  /** Until when its pool was seen paused while it waited, epoch ms. */
  heldUntil?: number
  /** Final status by the state. */
  end: RunStatus | null
  finishedAt: number
  /** Whether the owner wrote the run's only record to a topic of the user. */
  delivered: boolean
  /** Outcome by reports and dead letters. */
  reported: 'succeeded' | 'dead' | null
  /** Records in topics of the user. */
  records: number
  /** Latest broker or producer time of its records; times in the future are cut to the present. */
  lastAt: number
  /** Findings that were already reported, so that each is reported once. */
  found: string[]
}

/** The fields of the last state that later states are compared with. */
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
  /** Counts of the same state that `since` comes from. */
  skipped: number
  scheduledRuns: number
  runNo?: number
  /** The occurrence that was queued then. It becomes a run, or is skipped. */
  queuedFor: number | null
}

/** A state whose occurrences are judged when all other topics were read up to its time. */
export interface PendingCalendar extends StateSummary {
  at: number
}

export interface JobAccount extends Lives {
  id: string
  /** The definition in force, and those that states may still refer to. Ascending by offset. */
  plans: Plan[]
  /** Undefined: no state was read, or the job was deleted. */
  state: StateSummary | undefined
  stateAt: number
  runs: Map<number, RunAccount[]>
  /** `closed`: judged runs of this life. `ended`: those among them whose end a state has named. */
  closed: NumberSet
  ended: NumberSet
  /** Runs up to this number may have been named by states that compaction removed. */
  hiddenTo: number
  /** Runs up to this number may lack facts, which were read while the job had too many open runs. */
  unnotedTo?: number
  calendar: CalendarAccount | undefined
  pending: PendingCalendar | undefined
  fired: Fired[]
  /** Due time that was found to have passed. */
  overdueAt: number
  deletedAt: number
  lastAt: number
  /** Time of the next review, as in the index; undefined: no review is due. */
  checkAt: number | undefined
  /** The same time, as in the index of the store. */
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

/** Whether the run belongs to the present life. When a job is deleted, its runs are deleted too. */
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
    ...{ runNo, specOffset, scheduledFor, trigger: 'SCHEDULE', dispatchedAt: unknown, startDeadlineAt: 0 },
    ...{ attempts: [], named: false, status: null, attempt: 0, end: null, finishedAt: unknown, delivered: false },
    ...{ reported: null, records: 0, lastAt: unknown, found: [] },
  }
  if (same === undefined) account.runs.set(runNo, [run])
  else same.push(run)
  return run
}

/** A finished run does not name its definition. It is matched by its nominal time. */
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

/** The accounts that are in memory, bounded by the number of their open runs. */

/**
 * Weight that all ledgers of one process may keep in memory together. The weight of an account is its number of open runs, at least 1.
 * An account with one or two runs takes 7 KB.
 */
export const cachedRunsMax = 20_000

/** The share of one ledger, when several ledgers keep accounts in this process. */
export const sharedBy = (ledgers: { size: number }) => (): number => cachedRunsMax / Math.max(1, ledgers.size)

export class AccountCache {
  readonly #accounts = new Map<string, JobAccount>()
  readonly #heavyJobs = new Map<string, number>()
  #weight = 0

  get size(): number {
    return this.#accounts.size
  }

  /** Sum of the weights, each as it was when `weigh` was last called for the account. */
  get weight(): number {
    return this.#weight
  }

  has(id: string): boolean {
    return this.#accounts.has(id)
  }

  get(id: string): JobAccount | undefined {
    return this.#accounts.get(id)
  }

  set(account: JobAccount): void {
    this.#accounts.set(account.id, account)
    this.weigh(account.id)
  }

  /** To be called when the runs of the account have changed. */
  weigh(id: string): void {
    const account = this.#accounts.get(id)
    const weight = account === undefined ? 0 : Math.max(1, runsOf(account).length)
    this.#weight += weight - (this.#heavyJobs.get(id) ?? 0)
    if (account === undefined) this.#heavyJobs.delete(id)
    else this.#heavyJobs.set(id, weight)
  }

  delete(id: string): void {
    this.#accounts.delete(id)
    this.weigh(id)
  }

  /** Removes the oldest accounts until the weight is at most `weightMax`. All accounts must be saved. */
  shrink(weightMax: number): void {
    for (const id of this.#accounts.keys()) {
      if (this.#weight <= weightMax) return
      this.delete(id)
    }
  }
}
