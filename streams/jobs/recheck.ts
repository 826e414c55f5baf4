/**
 * Valid definitions whose jobs are INVALID: without an occurrence, or without their target. A job whose topic cannot be written to, or whose
 * pool has no topics, is INVALID until they exist; that is checked again. Whether a topic exists does not follow from any log of Duelog, so
 * both changes are logged states. The next time is frozen as for a paused job.
 */
import { noOccurrenceProblem } from '../definitions/index.ts'
import { completeIfDone, goOnWithBackfill, startQueued, topicRecord } from '../runs/index.ts'
import { type Context, type Decision, type KnownDefinition, lifeOf, patchState, type Timer } from '../state/index.ts'
import { recordBytes } from '../topics/index.ts'

/** The next check comes after a wait as long as the age of the definition. So a topic that is created with its job is found soon, and one that is never created costs little. */
const recheckMsMin = 5_000
export const recheckMsMax = 600_000

/** Why the topic of the job's runs cannot be written to. One missing topic would fail the transactions of all jobs of a partition. */
export function targetProblem(
  jobId: string,
  { spec, offset, appendedAt }: KnownDefinition,
  { topicProblem, poolProblem }: Context,
): string | undefined {
  if (spec === undefined) return undefined
  if (spec.target.topic === null) return poolProblem(spec.target.pool)
  const run = { jobId, runNo: 1, life: lifeOf({ offset, appendedAt }), scheduledFor: 0 }
  return topicProblem(spec.target.topic, recordBytes(topicRecord(run, spec.target.topic, { ...spec, cause: null })))
}

/** Makes the job INVALID until the next check. */
export function suspend(draft: Decision, { appendedAt }: KnownDefinition, reason: string, { now }: Context): void {
  const waitMs = Math.min(Math.max(recheckMsMin, now - appendedAt), recheckMsMax)
  patchState(draft, { status: 'INVALID', reason, finishedAt: null, deleteAt: null, recheckAt: now + waitMs })
}

/** Some topic or pool that was missing exists now. A job whose own target is still missing keeps the time of its next check. */
export function followTargets(draft: Decision, context: Context): void {
  const { id, state, definition } = draft.job
  if (definition?.spec === undefined || state === undefined || state.recheckAt === null) return
  if (targetProblem(id, definition, context) === undefined) goOn(draft, definition, context)
}

/** Checks the target again. A timer that no longer follows from the state does nothing. */
export function recheckTarget(draft: Decision, timer: Timer, context: Context): void {
  const { id, state, definition } = draft.job
  if (definition?.spec === undefined || state === undefined || state.recheckAt !== timer.dueAt) return
  if (context.now < timer.dueAt) {
    draft.deferUntil = timer.dueAt
    return
  }
  const problem = targetProblem(id, definition, context)
  if (problem !== undefined) return suspend(draft, definition, problem, context)
  goOn(draft, definition, context)
}

/** Leaves the job in the state that it would have if its target had existed when it was defined. */
function goOn(draft: Decision, definition: KnownDefinition, context: Context): void {
  const isPaused = definition.spec?.paused === true || draft.job.state?.pausedByCommand === true
  const status = isPaused ? 'PAUSED' : 'ACTIVE'
  patchState(draft, { status, reason: null, recheckAt: null })
  if (invalidateWithoutOccurrence(draft, definition)) return
  startQueued(draft, context)
  goOnWithBackfill(draft, context)
  completeIfDone(draft, context.now)
}

/** Whether the definition can never have an occurrence from its anchor. The job is then INVALID with a reason, and not silently COMPLETED. */
export function invalidateWithoutOccurrence(draft: Decision, { spec }: KnownDefinition): boolean {
  const { state } = draft.job
  if (spec === undefined || state === undefined || state.nextFireAt !== null) return false
  const reason = noOccurrenceProblem(spec, state.anchorAt)?.message
  if (reason === undefined) return false
  draft.notes.push({ kind: 'invalid', reason })
  patchState(draft, { status: 'INVALID', reason })
  return true
}
