/**
 * The accounts of the day: what the plan expects of each occurrence, and what the log shows of it. The workers' own counts are
 * not used. The expectations come only from the plan; the calendar and the findings of the auditor have no part in this proof.
 * Records of different topics may come in any order.
 */
import type { Execution, ExecutionEvent, FinishedRun } from '../../../schemas/index.ts'
import { emptyLateness, type Fact, type Lateness, latenessOf, noteLateness } from '../../tools/auditor/index.ts'

export interface Expected {
  id: string
  /** Epoch ms. */
  dueAt: number
}

export interface Counts {
  expected: number
  /** Occurrences with at least one start of a handler. */
  started: number
  succeeded: number
  /** Occurrences with more than one attempt. */
  retried: number
  dead: number
}

export interface DayVerdict extends Counts {
  /** Ids without a dispatched, started and ended run. */
  lost: string[]
  /** Ids with a second run, or an attempt that was dispatched or started twice. */
  duplicate: string[]
  /** Ids with a handler that started before its due time. */
  early: string[]
  /** Ids that ran but were not expected. */
  unexpected: string[]
  /** Start of the first attempt after the time it was due, in ms; undefined when nothing started. */
  lateness: Lateness | undefined
}

interface Account {
  dueAt: number | undefined
  /** Dispatches by `run/attempt`, with their earliest allowed starts. */
  dispatched: Map<string, number[]>
  /** Distinct starts by `run/attempt`, as `worker@time`. */
  starts: Map<string, Map<string, number>>
  /** When attempts of run 1 failed, by attempt. */
  failedAt: Map<number, number>
  end: 'succeeded' | 'dead' | undefined
}

export class RunAccounts {
  readonly #accounts = new Map<string, Account>()
  readonly #expected: number
  readonly #backoffMs: readonly number[]
  readonly #counts = { started: 0, succeeded: 0, retried: 0, dead: 0 }

  /** `backoffMs`: the delay before each retry; a retry must not start earlier. */
  constructor(expected: Iterable<Expected>, backoffMs: readonly number[]) {
    for (const { id, dueAt } of expected) this.#accounts.set(id, newAccount(dueAt))
    this.#expected = this.#accounts.size
    this.#backoffMs = backoffMs
  }

  get counts(): Counts {
    return { expected: this.#expected, ...this.#counts }
  }

  /** Whether every expected occurrence has ended. */
  get complete(): boolean {
    return this.#counts.succeeded + this.#counts.dead === this.#expected
  }

  /** Enters a record of the log. Kinds that do not matter here are ignored. */
  enter(fact: Fact): void {
    const { jobId } = fact
    if (fact.kind === 'dispatch') this.execution({ jobId, ...fact.dispatch })
    else if (fact.kind === 'report') this.event({ jobId, ...fact.report })
    else if (fact.kind === 'dead-letter') this.deadLetter(jobId)
    else if (fact.kind === 'state' && fact.state?.lastRun) this.finished(jobId, fact.state.lastRun)
  }

  /** A record of an executions topic. */
  execution({ jobId, runNo, attempt, dueAt }: Pick<Execution, 'jobId' | 'runNo' | 'attempt' | 'dueAt'>): void {
    const account = this.#of(jobId)
    const times = account.dispatched.get(`${runNo}/${attempt}`)
    if (times === undefined) account.dispatched.set(`${runNo}/${attempt}`, [dueAt])
    else times.push(dueAt)
    if (runNo === 1 && attempt === 2 && times === undefined && account.dueAt !== undefined) this.#counts.retried++
  }

  /** A record of execution-events. */
  event(event: Pick<ExecutionEvent, 'type' | 'jobId' | 'runNo' | 'attempt' | 'at' | 'worker' | 'startedAt'>): void {
    const { type, jobId, runNo, attempt, at, worker, startedAt } = event
    const account = this.#of(jobId)
    if (type === 'FAILED' && runNo === 1) account.failedAt.set(attempt, at)
    if (startedAt === null) return
    if (account.starts.size === 0 && account.dueAt !== undefined) this.#counts.started++
    const starts = account.starts.get(`${runNo}/${attempt}`) ?? new Map<string, number>()
    account.starts.set(`${runNo}/${attempt}`, starts.set(`${worker}@${startedAt}`, startedAt))
  }

  /** A finished run in job-state. A dead run counts only when its dead letter was read. */
  finished(jobId: string, { status }: Pick<FinishedRun, 'status'>): void {
    if (status === 'SUCCEEDED') this.#end(jobId, 'succeeded')
  }

  /** A record of the dead-letter topic. */
  deadLetter(jobId: string): void {
    this.#end(jobId, 'dead')
  }

  verdict(): DayVerdict {
    const lost: string[] = []
    const duplicate: string[] = []
    const early: string[] = []
    const unexpected: string[] = []
    const lateness = emptyLateness()
    for (const [id, account] of this.#accounts) {
      const { dueAt, dispatched, starts, end } = account
      if (dueAt === undefined) {
        unexpected.push(id)
        continue
      }
      const first = firstStart(account)
      if (!dispatched.has('1/1') || first === undefined || end === undefined) lost.push(id)
      if (isDouble(account)) duplicate.push(id)
      if ([...starts].some(([place, times]) => Math.min(...times.values()) < this.#mayStartAt(place, account))) early.push(id)
      if (first !== undefined) noteLateness(lateness, first - dueAt)
    }
    return { ...this.counts, lost, duplicate, early, unexpected, lateness: latenessOf(lateness) }
  }

  #of(id: string): Account {
    let account = this.#accounts.get(id)
    if (account === undefined) {
      account = newAccount(undefined)
      this.#accounts.set(id, account)
    }
    return account
  }

  #end(id: string, end: 'succeeded' | 'dead'): void {
    const account = this.#of(id)
    if (account.end !== undefined) return
    account.end = end
    if (account.dueAt !== undefined) this.#counts[end]++
  }

  /** Earliest allowed start: by the plan for a first attempt, by the failure and its backoff for a retry, and by what was dispatched. */
  #mayStartAt(place: string, { dueAt, dispatched, failedAt }: Account): number {
    const attempt = Number(place.split('/')[1])
    const retryAt = (failedAt.get(attempt - 1) ?? 0) + (this.#backoffMs[attempt - 2] ?? 0)
    const plannedAt = attempt === 1 ? (dueAt ?? 0) : retryAt
    return Math.max(plannedAt, Math.min(...(dispatched.get(place) ?? [0])))
  }
}

function newAccount(dueAt: number | undefined): Account {
  return { dueAt, dispatched: new Map(), starts: new Map(), failedAt: new Map(), end: undefined }
}

function firstStart({ starts }: Account): number | undefined {
  const times = starts.get('1/1')
  return times === undefined ? undefined : Math.min(...times.values())
}

function isDouble({ dispatched, starts }: Account): boolean {
  const anotherRun = [...dispatched.keys(), ...starts.keys()].some((place) => !place.startsWith('1/'))
  return (
    anotherRun || [...dispatched.values()].some(({ length }) => length > 1) || [...starts.values()].some(({ size }) => size > 1)
  )
}
