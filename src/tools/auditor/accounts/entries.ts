/** Enters facts and states into the account of their job. Only the order of the job's states is judged here. */
import type { ActiveRun, FinishedRun, JobState } from '../../../../schemas/index.ts'
import { runHistorySize, waitsForPool } from '../../../../streams/state/index.ts'
import { counted, stateWords } from '../../../../streams/text/index.ts'
import type { Dispatch, Fact, Report } from '../reading/index.ts'
import { attemptOf, type JobAccount, livesStill, openAccount, type RunAccount, runsOf, type StateSummary } from './account.ts'
import { type Append, type EntryContext, earlyByBroker, endRun, noteFired, opened } from './run-notes.ts'
import { hasNumber, noteLife, numbersExcept, unknown } from './run-numbers.ts'

/** Definitions of one job that states may still refer to. */
const plansMax = 8
/** Distinct starts that are kept of one attempt. */
const startsMax = 4

export function enter(account: JobAccount, fact: Fact, context: EntryContext): void {
  const at = Math.min(fact.at, context.nowMs)
  account.lastAt = Math.max(account.lastAt, at)
  switch (fact.kind) {
    case 'definition':
      account.plans = [...account.plans, fact.plan].sort((a, b) => a.offset - b.offset)
      account.plans = account.plans.slice(-plansMax)
      return
    case 'deletion':
      account.deletedAt = Math.max(account.deletedAt, fact.offset)
      return
    case 'state':
      return enterState(account, fact.state, fact, context)
    case 'restored':
      return enterRestored(account, fact.state, at, context)
    case 'finished':
      return enterFinished(account, fact.run, at, context)
    case 'dispatch':
      return enterDispatch(account, fact.dispatch, fact.byControl, at, context)
    case 'report':
      return enterReport(account, fact.report, at, context)
    case 'dead-letter': {
      const run = opened(account, fact.run.runNo, fact.run.specOffset, fact.run.scheduledFor, at, context)
      if (run !== undefined) run.reported = 'dead'
      return
    }
    case 'record': {
      const run = opened(account, fact.runNo, unknown, fact.scheduledFor, at, context)
      if (run === undefined) return
      run.records++
      earlyByBroker(account.id, run, fact.scheduledFor, fact, context)
      return
    }
  }
}

function enterDispatch(account: JobAccount, dispatch: Dispatch, byControl: boolean, at: number, context: EntryContext): void {
  const { runNo, attempt, specOffset, scheduledFor, dueAt, dispatchedAt, startDeadlineAt, trigger } = dispatch
  noteLife(account, specOffset, runNo)
  const run = opened(account, runNo, specOffset, scheduledFor, at, context)
  if (run === undefined) return
  const first = run.dispatchedAt === unknown
  run.trigger = trigger
  run.dispatchedAt = first ? dispatchedAt : Math.min(run.dispatchedAt, dispatchedAt)
  run.startDeadlineAt = Math.max(run.startDeadlineAt, startDeadlineAt)
  const found = attemptOf(run, attempt)
  found.dueAt = found.dueAt === unknown ? dueAt : Math.min(found.dueAt, dueAt)
  found.dispatches = byControl ? 1 : found.dispatches + 1
  if (first && trigger === 'SCHEDULE') noteFired(account, run)
}

function enterReport(account: JobAccount, report: Report, at: number, context: EntryContext): void {
  const { type, runNo, attempt, specOffset, worker, startedAt } = report
  if (startedAt === null && type !== 'SUCCEEDED') return
  // A worker may report a judged run again: workers run and report at least once.
  if (hasNumber(account.closed, runNo) && !account.runs.has(runNo) && specOffset > account.pastSpec) return
  noteLife(account, specOffset, runNo)
  const run = opened(account, runNo, specOffset, unknown, at, context)
  if (run === undefined) return
  if (startedAt !== null) {
    const found = attemptOf(run, attempt)
    found.startedAt = found.startedAt === unknown ? startedAt : Math.min(found.startedAt, startedAt)
    const start = `${worker}@${startedAt}`
    if (found.starts.length < startsMax && !found.starts.includes(start)) found.starts.push(start)
  }
  if (type === 'SUCCEEDED' && run.reported === null) run.reported = 'succeeded'
}

/** A finished run that is not the last. An earlier state named it as the last, unless compaction removed that state. */
function enterFinished(account: JobAccount, finished: FinishedRun, at: number, context: EntryContext): void {
  const { runNo, scheduledFor } = finished
  if (hasNumber(account.ended, runNo)) return
  const known = hasNumber(account.closed, runNo) && !account.runs.has(runNo)
  if (known) return
  const run = opened(account, runNo, unknown, scheduledFor, at, context)
  if (run !== undefined && run.end === null) endRun(account, run, finished)
}

/**
 * Enters a state of a job, and judges the order of its states. One owner after another writes them in one partition, so no other topic
 * is needed. Compaction may have removed states in between, which is never taken as a fault. The ends of the last ten runs have keys of
 * their own, and later ones overwrite them.
 */
export function enterState(account: JobAccount, state: JobState | null, append: Append, context: EntryContext): void {
  const at = Math.min(append.at, context.nowMs)
  account.stateAt = Math.max(account.stateAt, at)
  if (state === null) return endLife(account)
  const before = account.state
  for (const run of state.active) enterActive(account, run, append, at, context)
  enterLastRun(account, state, append, at, context)
  vanished(account, state, at, context)
  gaps(account, before, state, context)
  account.state = summaryOf(state)
  otherTimes(account, before, account.state)
  dropPlans(account, state.specOffset)
}

/**
 * A state from a backup is the beginning of the account. Its runs count as judged, but for those that go on. An attempt that workers had
 * was dispatched in the old system.
 */
export function enterRestored(account: JobAccount, state: JobState, at: number, context: EntryContext): void {
  account.stateAt = Math.max(account.stateAt, at)
  if (state.runNo > 0) noteLife(account, Math.max(state.specOffset, 0), state.runNo)
  for (const active of state.active) {
    const { runNo, specOffset, scheduledFor, trigger, status, attempt, startDeadlineAt, dueAt } = active
    noteLife(account, specOffset, runNo)
    const run = opened(account, runNo, specOffset, scheduledFor, at, context)
    if (run === undefined) continue
    Object.assign(run, { named: true, trigger, status, attempt, startDeadlineAt, waitsForPool: waitsForPool(active) })
    if (status === 'DISPATCHED' || status === 'RUNNING') {
      const dispatched = attemptOf(run, attempt)
      Object.assign(dispatched, { dispatches: dispatched.dispatches + 1, dueAt })
    }
    if (trigger === 'SCHEDULE') noteFired(account, run)
  }
  account.closed = numbersExcept(
    state.runNo,
    state.active.map(({ runNo }) => runNo),
  )
  account.hiddenTo = Math.max(account.hiddenTo, state.runNo)
  account.state = summaryOf(state)
  dropPlans(account, state.specOffset)
}

/** The job was deleted, and its runs with it. A later job of the same id begins a new life. */
function endLife(account: JobAccount): void {
  const { pastSpec } = openAccount(account.id)
  const last = Math.max(pastSpec, account.pastSpec, account.state?.specOffset ?? unknown)
  for (const run of runsOf(account)) if (run.specOffset === unknown) run.specOffset = last
  Object.assign(account, { state: undefined, pastSpec: last, closed: [], ended: [], hiddenTo: 0, unnotedTo: 0 })
  Object.assign(account, { calendar: undefined, pending: undefined, overdueAt: unknown })
  account.fired = account.fired.filter(([, , specOffset]) => specOffset > last)
  account.plans = account.plans.filter(({ offset }) => offset > last)
}

function enterActive(account: JobAccount, active: ActiveRun, append: Append, at: number, context: EntryContext): void {
  const { runNo, specOffset, scheduledFor, trigger, status, attempt, startDeadlineAt, dueAt } = active
  const revived = (run: RunAccount): void => {
    if (run.found.includes('revived')) return
    run.found.push('revived')
    context.findings.find('ended-twice', `${account.id}/${runNo}`, `it had ended, and ${stateWords(status)} again`, scheduledFor)
  }
  if (hasNumber(account.ended, runNo)) {
    const run = opened(account, runNo, specOffset, scheduledFor, at, context)
    if (run !== undefined) revived(run)
    return
  }
  if (hasNumber(account.closed, runNo) && !account.runs.has(runNo)) return
  noteLife(account, specOffset, runNo)
  const run = opened(account, runNo, specOffset, scheduledFor, at, context)
  if (run === undefined) return
  if (run.end !== null) revived(run)
  const first = !run.named
  Object.assign(run, { named: true, trigger, status, attempt, waitsForPool: waitsForPool(active) })
  run.startDeadlineAt = Math.max(run.startDeadlineAt, startDeadlineAt)
  if (first && trigger === 'SCHEDULE') noteFired(account, run)
  if (status === 'RUNNING') earlyByBroker(account.id, run, dueAt, append, context)
}

function enterLastRun(account: JobAccount, state: JobState, append: Append, at: number, context: EntryContext): void {
  const last = state.lastRun
  const before = account.state
  if (last === null || (before?.lastRunNo === last.runNo && before.lastFinishedAt === last.finishedAt)) return
  const { runNo, scheduledFor, finishedAt, status } = last
  const what = `${account.id}/${runNo}`
  const again = `it ended at ${new Date(finishedAt).toISOString()} (${stateWords(status)}), and had ended before`
  if (hasNumber(account.ended, runNo)) return context.findings.find('ended-twice', what, again, scheduledFor)
  const judged = hasNumber(account.closed, runNo) && !account.runs.has(runNo)
  if (judged) return
  const run = opened(account, runNo, unknown, scheduledFor, at, context)
  if (run === undefined) return
  // If compaction removed earlier states, the record of a finished run that is not the last one may be read first.
  if (run.end !== null && run.finishedAt !== finishedAt) return context.findings.find('ended-twice', what, again, scheduledFor)
  endRun(account, run, last)
  const ran = status === 'SUCCEEDED' || last.startedAt !== null
  if (ran && last.attempts === 1) earlyByBroker(account.id, run, scheduledFor, append, context)
}

/** Finds runs that were active, are no longer active, and have no end. */
function vanished(account: JobAccount, state: JobState, at: number, { findings }: EntryContext): void {
  for (const run of runsOf(account)) {
    if (run.status === null || !livesStill(account, run) || state.active.some(({ runNo }) => runNo === run.runNo)) continue
    run.status = null
    run.lastAt = Math.max(run.lastAt, at)
    if (run.end !== null || state.runNo >= run.runNo + runHistorySize) continue
    run.found.push('lost')
    findings.find('lost', `${account.id}/${run.runNo}`, 'it was active, and its job no longer names it', run.scheduledFor)
  }
}

/** Finds run numbers that were assigned and that no run has. */
function gaps(account: JobAccount, before: StateSummary | undefined, state: JobState, { findings, runsMax }: EntryContext): void {
  if (account.runs.size >= runsMax) {
    // Some runs could not be noted, so a missing number proves nothing.
    account.hiddenTo = state.runNo
    return
  }
  const kept = state.runNo - runHistorySize
  const from = Math.max(before?.runNo ?? 0, kept)
  if (kept > (before?.runNo ?? 0)) account.hiddenTo = Math.max(account.hiddenTo, kept)
  for (let runNo = from + 1; runNo <= state.runNo; runNo++) {
    if (hasNumber(account.closed, runNo) || account.runs.get(runNo)?.some((run) => run.named && livesStill(account, run)))
      continue
    findings.find(
      'gap',
      `${account.id}/${runNo}`,
      `its job has made ${counted(state.runNo, 'run')}, and names none of this number`,
      undefined,
    )
  }
}

/** New times count from here: occurrences of the replaced times are no longer judged. */
function otherTimes(account: JobAccount, before: StateSummary | undefined, now: StateSummary): void {
  if (before === undefined || (before.anchorAt === now.anchorAt && before.timesHash === now.timesHash)) return
  const { anchorAt, timesHash, nextFireAt, skipped, scheduledRuns, runNo, queuedFor } = now
  account.pending = undefined
  account.calendar = { anchorAt, timesHash, since: nextFireAt ?? unknown, skipped, scheduledRuns, runNo, queuedFor }
}

function summaryOf(state: JobState): StateSummary {
  const { status, waiting, specOffset, anchorAt, timesHash, nextFireAt, nextDueAt, runNo, scheduledRuns, skipped } = state
  return {
    ...{ status, waiting, specOffset, anchorAt, timesHash, nextFireAt, nextDueAt, runNo, scheduledRuns, skipped },
    queuedFor: state.queuedFor,
    lastRunNo: state.lastRun?.runNo ?? unknown,
    lastFinishedAt: state.lastRun?.finishedAt ?? unknown,
    unsuccessful: state.failed + state.cancelled,
    waitingRuns: state.active.filter((run) => run.status === 'WAITING').map((run) => run.runNo),
  }
}

/** States no longer refer to definitions before the one in force; open runs may. */
function dropPlans(account: JobAccount, specOffset: number): void {
  if (account.plans.length < 2) return
  const oldest = Math.min(specOffset, ...runsOf(account).flatMap((run) => (run.specOffset === unknown ? [] : [run.specOffset])))
  account.plans = account.plans.filter(({ offset }, at) => offset >= oldest || at === account.plans.length - 1)
}
