/**
 * Checks of runs in a paused pool: none begins once its owner or worker knows of the pause, none waits without a pause, none loses an
 * attempt or time to start, none outlives its expiry, and all go on when the pool is resumed.
 */
import type { ActiveRun, Execution } from '../../../schemas/generated.ts'
import type { MemoryLog, Transaction } from '../../tools/memory-log.ts'
import { dispatchesOf } from './dispatches.ts'
import type { Facts, PauseRead } from './facts.ts'
import type { Ledger } from './ledger.ts'
import { type Lives, lifeNoOf } from './lives.ts'
import { read, readable, shown, topics } from './reading.ts'
import { attemptName, type Reports } from './reports.ts'
import type { Change, Decided } from './transactions.ts'

/** How long after the last fault all owners know a pause, and have acted on its end, in ms. */
const settledMs = 40_000
/** How long after its expiry a run may wait at rest, in ms. */
const patienceMs = 1_000

const nameOf = ({ jobId, specOffset, runNo, attempt }: Pick<Execution, 'jobId' | 'specOffset' | 'runNo' | 'attempt'>): string =>
  `${jobId}/${runNo}/${attempt} of ${specOffset}`

interface Judged {
  lives: Lives
  ledger: Ledger
  transactions: Decided[]
  reports: Reports
}

/** The cluster must be at rest. */
export function pauseProblems(log: MemoryLog, { lives, ledger, transactions, reports }: Judged, facts: Facts): string[] {
  const { pauses, nowMs, calms } = facts
  const problems = attemptProblems(transactions)
  if (pauses === undefined) return problems
  const known = new Map(pauses.decided.map(({ transaction, pause }) => [transaction, pause]))
  for (const { worker, execution } of pauses.begun)
    problems.push(`${worker} began ${nameOf(execution)}, and knew that its pool was paused`)
  const inPause = new Map([...known].flatMap(([{ sequence }, pause]) => (pause === null ? [] : [[sequence, pause] as const])))
  for (const { execution, sequence } of dispatchesOf(log)) {
    const pause = inPause.get(sequence)
    if (pause !== undefined)
      problems.push(`${nameOf(execution)} was dispatched by an owner that knew the ${pause.mode} since ${pause.at}`)
  }
  for (const decided of transactions) {
    const pause = known.get(decided.transaction as Transaction)
    for (const change of decided.changes) {
      judge(change, pause, lives, problems)
      if (pause?.mode === 'DRAIN') checkDrain(change, reports, problems)
    }
  }
  const resumedAt = Math.max(0, ...shown(log, topics.pauses).flatMap(({ record, at }) => (record?.value === null ? [at] : [])))
  const { fromMs = nowMs } = calms.at(-1) ?? {}
  if (isStillPaused(log) || nowMs < Math.max(resumedAt, fromMs) + settledMs) return problems
  for (const [id, { active }] of ledger.last)
    for (const run of active)
      if (isWaiting(run)) problems.push(`${id}/${run.runNo} waits for a pool that was resumed at ${resumedAt}`)
  return problems
}

/** Checks at the end of a rest in which the pool stayed paused. */
export function pausedRestProblems(
  log: MemoryLog,
  lives: Lives,
  ledger: Ledger,
  facts: Pick<Facts, 'nowMs' | 'calms'>,
): string[] {
  const { fromMs = 0 } = facts.calms.at(-1) ?? {}
  const problems = dispatchesOf(log).flatMap(({ execution, at }) =>
    at < fromMs + settledMs
      ? []
      : [`${nameOf(execution)} was dispatched ${at - fromMs} ms after the last fault, in a paused pool`],
  )
  for (const [id, { active, specOffset }] of ledger.last) {
    const expiries = expiriesOf(lives, id, specOffset)
    const [expireAt = Number.POSITIVE_INFINITY] = expiries
    const isSame = expiries.every((each) => each === expireAt)
    for (const run of active)
      if (isWaiting(run) && isSame && expireAt < facts.nowMs - patienceMs)
        problems.push(`${id}/${run.runNo} waits for its pool ${facts.nowMs - expireAt} ms after its expiry`)
  }
  return problems
}

/** A run that has left its pool keeps that time until it is dispatched. */
const isWaiting = ({ status, poolPausedAt }: ActiveRun): boolean => status === 'RETRY_WAIT' && poolPausedAt !== null

function isStillPaused(log: MemoryLog): boolean {
  const records = shown(log, topics.pauses).filter(({ record }) => record?.key?.toString() === 'pool/default')
  const usable = records.filter(({ record }) => record?.value === null || readable(read.pause, record?.value) !== undefined)
  return (usable.at(-1)?.record?.value ?? null) !== null
}

/** The expiries of all definitions in the life of a job. */
const expiriesOf = (lives: Lives, id: string, specOffset: number): number[] =>
  (lives.get(id)?.[lifeNoOf(lives.get(id), specOffset)]?.definitions ?? []).map(
    ({ spec }) => spec?.expireAt ?? Number.POSITIVE_INFINITY,
  )

/** `pause`: what the owner knew; undefined if that is unknown. */
function judge(
  { jobId, before, after, ended }: Change,
  pause: PauseRead | null | undefined,
  lives: Lives,
  problems: string[],
): void {
  if (after === undefined || (before !== undefined && before.life !== after.life)) return
  for (const run of after.active) {
    const was = before?.active.find(({ runNo }) => runNo === run.runNo)
    const wasWaiting = was !== undefined && isWaiting(was)
    if (isWaiting(run) && !wasWaiting && pause === null)
      problems.push(`${nameOf({ jobId, ...run })} waits for its pool, and its owner knew of no pause`)
    if (wasWaiting && !isWaiting(run)) checkTimeLeft(jobId, was, run, expiriesOf(lives, jobId, after.specOffset), problems)
  }
  const ends = [...(after.lastRun ? [after.lastRun] : []), ...ended]
  for (const was of before?.active ?? []) {
    const end = ends.find(({ runNo }) => runNo === was.runNo)
    if (end?.status !== 'EXPIRED') continue
    const expireAt = Math.min(...expiriesOf(lives, jobId, after.specOffset))
    const name = nameOf({ jobId, ...was })
    if (isWaiting(was) && end.finishedAt < expireAt)
      problems.push(`${name} expired at ${end.finishedAt} while its pool was paused; its job expires at ${expireAt}`)
    const isInTime = pause?.mode === 'PAUSE' && Math.max(pause.at, was.dueAt, was.dispatchedAt) < was.startDeadlineAt
    if (was.status === 'DISPATCHED' && isInTime && end.finishedAt < expireAt)
      problems.push(`${name} expired, and its pool was paused at ${pause.at}, before ${was.startDeadlineAt}`)
  }
}

/**
 * Workers do what was dispatched before a drain, so the owner takes nothing back that they do not give back. It takes back what went
 * to one worker that has left.
 */
function checkDrain({ jobId, before, after }: Change, reports: Reports, problems: string[]): void {
  for (const run of after?.active ?? []) {
    const was = before?.active.find(({ runNo }) => runNo === run.runNo)
    if (was?.status !== 'DISPATCHED' || was.routedTo !== null || run.attempt === was.attempt || !isWaiting(run)) continue
    const name = nameOf({ jobId, ...was })
    if (!reports.has(attemptName({ jobId, ...was }))) problems.push(`${name} was taken back, and its pool was only drained`)
  }
}

/** The time that was left for a start when the wait began is left when it ends, but never beyond the expiry of the job. */
function checkTimeLeft(jobId: string, was: ActiveRun, run: ActiveRun, expiries: number[], problems: string[]): void {
  if (run.attempt !== was.attempt || (run.status !== 'DISPATCHED' && run.status !== 'WAITING')) return
  const leftMs = was.startDeadlineAt - Math.max(was.poolPausedAt ?? 0, was.dueAt)
  const name = nameOf({ jobId, ...run })
  if (run.startDeadlineAt < Math.min(run.dueAt + leftMs, ...expiries) && run.waitsFor !== 'RATE')
    problems.push(`${name} had ${leftMs} ms left for its start, and has ${run.startDeadlineAt - run.dueAt} after the pause`)
  if (run.status === 'DISPATCHED' && run.dispatchedAt >= Math.max(...expiries))
    problems.push(`${name} was dispatched at ${run.dispatchedAt}, after its expiry at ${Math.max(...expiries)}`)
  if (run.startDeadlineAt > Math.max(...expiries))
    problems.push(`${name} may start until ${run.startDeadlineAt}, after its expiry`)
}

/** Only a failure costs an attempt: not a pause, and nothing else. */
function attemptProblems(transactions: Decided[]): string[] {
  const problems: string[] = []
  for (const { changes } of transactions)
    for (const { jobId, after } of changes)
      for (const run of after?.active ?? []) {
        const failed = new Set(run.errors.map(({ attempt }) => attempt)).size
        const made = run.attempt - run.releasedAttempts - 1
        if (made > failed) problems.push(`${nameOf({ jobId, ...run })} has used ${made} attempts and failed ${failed} times`)
      }
  return problems
}
