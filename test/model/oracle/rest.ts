/** Checks of jobs once everything has come to rest: nothing is overdue, nothing hangs, and each occurrence was run or counted. */
import type { JobState } from '../../../schemas/generated.ts'
import { occurrenceAfter, occurrencesBetween } from './calendar.ts'
import type { Facts } from './facts.ts'
import type { Ledger } from './ledger.ts'
import { type Definition, type Life, type Lives, lifeName, timesOf } from './lives.ts'

/** The allowed lateness at rest: a lead and the way of a record through the log, in ms. */
const patienceMs = 100
/** How long the owner waits for a worker's own report of a timeout, in ms. */
const graceMs = 5_000
/** How much later a retry is made if its delay topic or its report was lost (docs/TOPICS.md), in ms. */
const lostRetryMs = 60_000

export function restProblems(lives: Lives, ledger: Ledger, facts: Facts): string[] {
  const problems: string[] = []
  for (const [id, of] of lives) {
    const life = of.at(-1)
    if (life === undefined || life.endedBy !== undefined) continue
    const state = ledger.last.get(id)
    if (state === undefined) checkUndecided(id, life, facts.nowMs, problems)
    else if (!life.definitions.some(({ offset }) => offset === state.specOffset))
      problems.push(`${id} stands at the definition ${state.specOffset}, which is not of its present life`)
    else {
      checkJob(id, life, state, facts, problems)
      if (facts.exact) checkCounts(id, life, state, facts, problems)
    }
  }
  for (const [id, of] of lives) {
    const before = of.length - 1
    if (of.at(-1)?.endedBy !== undefined && ledger.last.has(id))
      problems.push(`${lifeName(id, before)} was deleted and still has a state`)
  }
  return problems
}

/** Nothing was decided about the job, so nothing of it is due yet. */
function checkUndecided(id: string, { definitions, droppedOffset }: Life, nowMs: number, problems: string[]): void {
  const [first] = definitions
  if (definitions.length > 1 || droppedOffset >= 0 || first?.spec === undefined || first.spec.paused) return
  const { spec, appendedAt } = first
  const due = occurrenceAfter(spec, appendedAt, Number.MIN_SAFE_INTEGER)
  if (due !== null && due + spec.jitterMs < nowMs - patienceMs) problems.push(`${id} is due since ${due} and nothing was decided`)
}

function checkJob(id: string, { definitions }: Life, state: JobState, { nowMs, whole }: Facts, problems: string[]): void {
  const inForce = definitions.at(-1)?.offset
  if (state.specOffset !== inForce) problems.push(`${id} stands at the definition ${state.specOffset}; ${inForce} is in force`)
  const { succeeded, failed, cancelled, active, runNo, queuedFor, backfill } = state
  const ended = succeeded + failed + cancelled
  if (ended + active.length !== runNo) problems.push(`${id} has ${runNo} runs, ${ended} ended`)
  const dueAt = state.nextDueAt ?? state.nextFireAt
  if (state.status === 'ACTIVE' && dueAt !== null && !state.waiting && dueAt < nowMs - patienceMs)
    problems.push(`${id} is overdue by ${nowMs - dueAt} ms`)
  if (queuedFor !== null && state.status === 'ACTIVE' && active.length === 0) problems.push(`${id} starts nothing of its queue`)
  if (backfill !== null && state.status === 'ACTIVE' && active.length === 0) problems.push(`${id} goes on with no backfill`)
  if (state.status === 'ACTIVE' && state.nextFireAt === null && active.length === 0) problems.push(`${id} waits for nothing`)
  for (const run of active) {
    const onceMore = run.status === 'RETRY_WAIT' && !whole ? lostRetryMs : 0
    const latest =
      Math.max(run.startDeadlineAt + graceMs, (run.startedAt ?? 0) + run.attemptTimeoutMs + graceMs, run.dueAt + onceMore) + 3_000
    if (latest < nowMs) problems.push(`${id}/${run.runNo} is ${run.status} for ever`)
  }
}

/** If a life had only one schedule, every occurrence up to now was run or counted as skipped. */
function checkCounts(id: string, { definitions }: Life, state: JobState, facts: Facts, problems: string[]): void {
  const usable = definitions.filter(({ spec }) => spec !== undefined)
  const [first] = usable
  if (first?.spec === undefined || usable.length < definitions.length) return
  const { spec, appendedAt } = first
  if (usable.some((other) => timesOf(other) !== timesOf(first)) || usable.some(({ spec }) => spec?.maxRuns !== null)) return
  // A cancelled or expired job counts no further occurrences.
  if (spec.expireAt !== null || (state.nextFireAt === null && spec.endAt === null) || facts.cancelled.has(id)) return
  if (spec.schedule.from === 'END' || spec.schedule.delayMs !== null) return
  const until = state.nextFireAt === null ? Number.MAX_SAFE_INTEGER : state.nextFireAt - 1
  const due = occurrencesBetween(spec, appendedAt, Number.MIN_SAFE_INTEGER, until).length
  const queued = state.queuedFor === null ? 0 : 1
  if (state.scheduledRuns + state.skipped + queued !== due)
    problems.push(`${id} ran ${state.scheduledRuns} and skipped ${state.skipped} of ${due} occurrences`)
  if (state.skipped > 0 && mustAllRun(usable, due)) problems.push(`${id} skipped ${state.skipped}, and all of them had to run`)
}

const mustAllRun = (definitions: Definition[], due: number): boolean =>
  definitions.every(({ spec }) => spec?.catchUp === 'ALL' && spec.catchUpMax > due && spec.overlap === 'ALLOW')
