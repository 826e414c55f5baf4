/**
 * Recheck of a missing target. A job whose topic cannot be written to, or whose pool has no topics, is INVALID until they exist. Whether a
 * topic exists does not follow from any log of Duelog, so both changes are logged states. The next time is frozen as for a paused job.
 */
import { completeIfDone, goOnWithBackfill, startQueued, topicRecord } from '../runs/index.ts'
import { type Context, type Decision, type KnownDefinition, lifeOf, patchState, type Timer } from '../state/index.ts'
import { recordBytes } from '../topics/index.ts'
import { invalidateWithoutOccurrence } from './no-occurrence.ts'

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

/** The job is what it would have been with its target there from the start. */
function goOn(draft: Decision, definition: KnownDefinition, context: Context): void {
  const isPaused = definition.spec?.paused === true || draft.job.state?.pausedByCommand === true
  const status = isPaused ? 'PAUSED' : 'ACTIVE'
  patchState(draft, { status, reason: null, recheckAt: null })
  if (invalidateWithoutOccurrence(draft, definition)) return
  startQueued(draft, context)
  goOnWithBackfill(draft, context)
  completeIfDone(draft, context.now)
}
