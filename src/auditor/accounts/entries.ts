/** Enters facts into the account of their job. Only the order of the job's states is judged here. */
import type { FinishedRun } from '../../../schemas/index.ts'
import type { Dispatch, Fact, Report } from '../reading/index.ts'
import { attemptOf, type JobAccount } from './account.ts'
import { type EntryContext, earlyByBroker, endRun, noteFired, opened } from './run-notes.ts'
import { hasNumber, noteLife, unknown } from './run-numbers.ts'
import { enterRestored, enterState } from './state-entry.ts'

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
  const { runNo, attempt, specOffset, scheduledFor, dueAt, dispatchedAt, startDeadlineAt, trigger, tracked } = dispatch
  noteLife(account, specOffset, runNo)
  const run = opened(account, runNo, specOffset, scheduledFor, at, context)
  if (run === undefined) return
  const first = run.dispatchedAt === unknown
  run.trigger = trigger
  run.tracked = tracked
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
