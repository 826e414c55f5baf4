/**
 * Judges an account, once all topics were read up to a time (the watermark) and a grace for late records has passed.
 * Judged runs are counted and closed. Records that retention or compaction removed are never taken as a fault.
 */
import { attemptTimeoutGraceMs } from '../../../streams/state/index.ts'
import { stateWords } from '../../../streams/text/index.ts'
import { addNumber, hasNumber, type JobAccount, livesStill, planOf, type RunAccount, runsOf, unknown } from './accounts/index.ts'
import { doubleOccurrences, holdCalendar, judgeCalendar, occurrenceAfter, type Progress, trimFired } from './calendar.ts'
import { type FindingKind, type Findings, noteLateness, type Scope, type Tally } from './findings/index.ts'
import type { Plan } from './reading/index.ts'

type End = 'succeeded' | 'dead' | 'other' | 'open'

/**
 * Judges what can be judged, and returns the time of the next review. Undefined: the next review is at the next fact. It yields
 * during long searches, so no fact may be entered into the account before it has returned.
 */
export function* review(
  account: JobAccount,
  progress: Progress,
  findings: Findings,
): Generator<void, number | undefined, undefined> {
  const { watermark, isFinal = false } = progress
  const graceMs = isFinal ? 0 : findings.scope.graceMs
  let next = Number.POSITIVE_INFINITY
  doubleOccurrences(account, findings)
  for (const run of runsOf(account)) {
    const settledAt = run.lastAt + graceMs
    if (settledAt > watermark) next = Math.min(next, settledAt)
    else next = Math.min(next, judgeRun(account, run, progress, findings))
  }
  holdCalendar(account)
  while (account.pending !== undefined && account.pending.at + graceMs <= watermark) {
    yield* judgeCalendar(account, account.pending, progress, findings)
    holdCalendar(account)
  }
  if (account.pending !== undefined) next = Math.min(next, account.pending.at + graceMs)
  trimFired(account)
  next = Math.min(next, judgeDue(account, progress, findings))
  if (isGone(account) && account.runs.size === 0) next = Math.min(next, account.lastAt + graceMs)
  return next === Number.POSITIVE_INFINITY ? undefined : Math.max(next, watermark + 1)
}

/** Whether the account has no open fact and can be removed. */
export const isOver = (account: JobAccount, watermark: number, graceMs: number): boolean =>
  account.runs.size === 0 && isGone(account) && account.lastAt + graceMs <= watermark

const isGone = ({ state, plans, deletedAt }: JobAccount): boolean =>
  state === undefined && (plans.length === 0 || deletedAt > (plans.at(-1)?.offset ?? 0))

const inScope = ({ scheduledFor }: RunAccount, scope: Scope): boolean =>
  scheduledFor !== unknown && scheduledFor >= scope.from && scheduledFor < scope.to

/** Time of the next review of the run; infinity: at its next fact. */
function judgeRun(account: JobAccount, run: RunAccount, progress: Progress, findings: Findings): number {
  const findOnce = (kind: FindingKind, mark: string, detail: string): void => {
    if (run.found.includes(mark)) return
    run.found.push(mark)
    findings.find(kind, `${account.id}/${run.runNo}`, detail, run.scheduledFor)
  }
  for (const { attempt, dispatches, dueAt, startedAt } of run.attempts) {
    if (dispatches > 1)
      findOnce('duplicate', `twice ${attempt} ${dispatches}`, `attempt ${attempt} was dispatched ${dispatches} times`)
    if (dueAt !== unknown && startedAt !== unknown && startedAt < dueAt)
      findOnce('early', `early ${attempt}`, `attempt ${attempt} started ${dueAt - startedAt} ms before it was due`)
  }
  if (run.records > 1) findOnce('duplicate', 'records', `its record was written ${run.records} times`)
  const late =
    run.attempts.some(({ dispatches }) => dispatches > 0) && hasNumber(account.closed, run.runNo) && livesStill(account, run)
  if (late) findOnce('duplicate', 'again', 'it was dispatched again after it had ended')
  undispatched(account, run, progress, findOnce)
  const end = late ? 'other' : endOf(account, run, progress, findOnce)
  if (end !== 'open') {
    close(account, run, end, findings, late)
    return Number.POSITIVE_INFINITY
  }
  if (run.attempts.some(({ startedAt }) => startedAt !== unknown) || run.status === null) return Number.POSITIVE_INFINITY
  const { graceMs } = findings.scope
  if (run.status === 'RUNNING' || run.found.includes('deadline')) return Number.POSITIVE_INFINITY
  if (isHeld(account, run, progress)) {
    run.heldUntil = progress.watermark
    return progress.watermark + graceMs
  }
  // Its pool may have been resumed up to a grace after it was last seen paused.
  const overAt = Math.max(expiresAt(run), (run.heldUntil ?? 0) + graceMs) + graceMs
  if (overAt > progress.watermark || !progress.isPresent) return Math.max(overAt, progress.watermark + 1)
  const until = new Date(run.startDeadlineAt).toISOString()
  findOnce('lost', 'deadline', `it was dispatched, never started, and should have expired at ${until}`)
  return Number.POSITIVE_INFINITY
}

/** An owner waits for the reports about a dispatched run before it expires. */
const expiresAt = ({ status, startDeadlineAt }: RunAccount): number =>
  startDeadlineAt + (status === 'DISPATCHED' ? attemptTimeoutGraceMs : 0)

/** In the log the deadline of a run stands still while its pool is paused. Its owner sets it when the pool is resumed. */
function isHeld(account: JobAccount, run: RunAccount, { isPaused }: Progress): boolean {
  if (run.waitsForPool !== true) return false
  const pool = planOf(account, run.specOffset)?.spec?.pool
  return pool === undefined || isPaused(pool)
}

type FindOnce = (kind: FindingKind, mark: string, detail: string) => void

/** Finds attempts whose status is dispatched or ended, but that were never dispatched. */
function undispatched(account: JobAccount, run: RunAccount, progress: Progress, findOnce: FindOnce): void {
  const { completeFrom, targetTopics } = progress
  if (run.runNo <= (account.unnotedTo ?? 0)) return
  const began = run.finishedAt !== unknown ? run.finishedAt : run.lastAt
  const plan = planOf(account, run.specOffset)
  // A finished run does not name its definition. If only one definition is known, it is that one.
  const made = run.specOffset === unknown && account.plans.length === 1 ? account.plans[0] : plan
  const topic = made?.spec?.topic ?? null
  if (run.delivered && run.records === 0 && livesStill(account, run) && topic !== null && targetTopics?.has(topic))
    findOnce('undispatched', 'no record', `it has succeeded, and ${topic} has no record of it`)
  if (run.delivered || began < completeFrom.executions || !livesStill(account, run)) return
  // Dispatches of pinned runs are in worker-control, which keeps them for a short time. An unknown definition may be pinned.
  if (plan?.spec === undefined || (plan.spec.pinned && began < completeFrom.control)) return
  const has = (attempt: number): boolean => run.attempts.some((each) => each.attempt === attempt && each.dispatches > 0)
  const handedOut = run.status === 'DISPATCHED' || run.status === 'RUNNING'
  const worked = run.end === 'SUCCEEDED' || (run.end === 'DEAD' && spoke(run))
  if ((handedOut || worked) && run.trigger !== 'REDRIVE' && !has(run.attempt))
    findOnce(
      'undispatched',
      `no dispatch ${run.attempt}`,
      `attempt ${run.attempt} ${stateWords(run.end ?? run.status ?? '')} by its state, and was never dispatched`,
    )
  for (const { attempt, dispatches, startedAt } of run.attempts) {
    if (dispatches > 0 || startedAt === unknown || startedAt < completeFrom.executions || attempt === run.attempt) continue
    findOnce('undispatched', `no dispatch ${attempt}`, `attempt ${attempt} was started, and never dispatched`)
  }
}

const spoke = ({ attempts }: RunAccount): boolean => attempts.some(({ startedAt }) => startedAt !== unknown)

function endOf(account: JobAccount, run: RunAccount, { isFinal }: Progress, findOnce: FindOnce): End {
  const isUnderWay = run.status !== null && livesStill(account, run)
  if (isUnderWay && (run.reported === null || !isFinal)) return 'open'
  if (run.reported !== null) return run.reported
  if (run.end !== null) return run.end === 'SUCCEEDED' ? 'succeeded' : run.end === 'DEAD' ? 'dead' : 'other'
  const { state } = account
  // The runs of a deleted job are deleted with it.
  if (!livesStill(account, run)) return 'other'
  // The states of its job may not have been read up to this run.
  if (state === undefined) return account.deletedAt === unknown && account.plans.length > 0 ? 'open' : 'other'
  if (run.specOffset === unknown) return 'other'
  if (run.runNo > state.runNo) return 'open'
  if (run.runNo > Math.max(account.hiddenTo, account.unnotedTo ?? 0) && !run.named && run.dispatchedAt !== unknown)
    findOnce('lost', 'lost', 'it was dispatched, has no end in the log, and no state of its job names it')
  return 'other'
}

function close(account: JobAccount, run: RunAccount, end: End, findings: Findings, again: boolean): void {
  const others = (account.runs.get(run.runNo) ?? []).filter((each) => each !== run)
  if (others.length > 0) account.runs.set(run.runNo, others)
  else account.runs.delete(run.runNo)
  if (livesStill(account, run)) {
    addNumber(account.closed, run.runNo)
    if (run.end !== null) addNumber(account.ended, run.runNo)
  }
  // Only reports were read, whose dispatches are no longer in the log.
  if (!again && inScope(run, findings.scope)) countRun(run, end, findings.tally)
}

export function countRun(run: RunAccount, end: End, tally: Tally): void {
  if (run.attempts.every(({ dispatches }) => dispatches === 0) && !run.delivered) return
  tally.runs++
  if (run.attempts.length > 1) tally.retried++
  if (end === 'succeeded') tally.succeeded++
  else if (end === 'dead') tally.dead++
  for (const { attempt, dueAt, startedAt, starts } of run.attempts) {
    if (starts.length > 1) tally.startedAgain++
    if (attempt === 1 && dueAt !== unknown && startedAt !== unknown) noteLateness(tally.lateness, startedAt - dueAt)
  }
}

/** The first nominal time of a definition for which no decision was read. */
const firstOf = ({ spec, appendedAt }: Plan): number | null =>
  spec === undefined || spec.paused ? null : occurrenceAfter(spec, appendedAt, Number.NEGATIVE_INFINITY)

/** Finds a job that still waits for a time in the past. */
function judgeDue(account: JobAccount, { watermark, isPresent }: Progress, findings: Findings): number {
  const { scope } = findings
  const { state, plans, deletedAt, overdueAt } = account
  const plan = plans.at(-1)
  const isOpen = state === undefined && plan !== undefined && deletedAt < plan.offset && plan.conditional !== true
  const undecided = isOpen ? plan : undefined
  const decided = state?.status === 'ACTIVE' && !state.waiting ? (state.nextDueAt ?? state.nextFireAt) : null
  const dueAt = undecided === undefined ? decided : firstOf(undecided)
  if (dueAt === null || dueAt < scope.from || dueAt >= scope.to || dueAt === overdueAt) return Number.POSITIVE_INFINITY
  // A time that is already past when the definition arrives is due from that moment.
  const overAt = Math.max(dueAt, undecided?.appendedAt ?? 0) + (undecided?.spec?.jitterMs ?? 0) + scope.graceMs
  if (overAt >= watermark || !isPresent) return Math.max(overAt + 1, watermark + 1)
  account.overdueAt = dueAt
  const late = Math.round((watermark - dueAt) / 1_000)
  findings.find(
    'overdue',
    account.id,
    `it was due at ${new Date(dueAt).toISOString()}, ${late} s ago, and nothing was decided`,
    dueAt,
  )
  return Number.POSITIVE_INFINITY
}
