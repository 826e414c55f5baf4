/** What becomes of a job's next occurrence when the rules of its time zone have changed (ADR 0040). */
import type { JobDefinition, JobState } from '../../schemas/index.ts'
import { decidedTime, dueAtOf, followsZone, type Move, nextByRules } from '../schedules/index.ts'
import { type Context, type Decision, type Job, patchState, skip, timersOf } from '../state/index.ts'
import { goOnWithBackfill } from './backfill.ts'
import { completeIfDone } from './completion.ts'

/** Occurrences that one move by new zone rules counts. */
export const zoneSkipsCountedMax = 1_000

/** Where the next occurrence of a job with a state belongs by the rules in force; undefined where it stands there already. */
export function zoneMoveOf({ id, definition, state }: Job): Move | undefined {
  const spec = definition?.spec
  if (spec === undefined || state === undefined || state.nextFireAt === null || !followsZone(spec)) return undefined
  const move = nextByRules(spec, state, zoneSkipsCountedMax)
  if (move.nextFireAt === null || move.nextFireAt !== state.nextFireAt || move.passed > 0) return move
  // With jitter it is due before the one that follows it, and that may have moved.
  const dueAt = spec.jitterMs === 0 ? null : dueAtOf(spec, state.anchorAt, id, move.nextFireAt)
  return dueAt === state.nextDueAt ? undefined : move
}

/** Puts the next occurrence where it belongs. True: it stood elsewhere. What lies in the past there is for the job's catch-up policy. */
export function moveNextFire(draft: Decision, context: Context): boolean {
  const { now } = context
  const { state, definition } = draft.job
  const move = zoneMoveOf(draft.job)
  if (state === undefined || definition?.spec === undefined || move === undefined) return false
  const scheduledFor = state.nextFireAt ?? now
  // What has passed is decided about with this. Else the last decision stays what it was: the rules may change back.
  const decided = move.passed > 0 ? state.decidedFor : null
  const decidedFor = decided === null ? state.decidedFor : decidedTime(definition.spec, decided.at)
  // One that waits for a run to end is asked anew: it may not be due any more.
  patchState(draft, { nextFireAt: move.nextFireAt, decidedFor, waiting: false })
  if (move.passed > 0) skip(draft, 'zone-rules', move.passed, { at: now, scheduledFor })
  draft.notes.push({ kind: 'moved' })
  // What left room for an occurrence that was due, and is not any more.
  goOnWithBackfill(draft, context)
  completeIfDone(draft, now)
  return true
}

/** Looks at a job whose next occurrence may stand by other rules. A job without a state has none: its timer is set anew. */
export function lookAtZone(draft: Decision, context: Context): void {
  const { definition, state } = draft.job
  if (definition?.spec === undefined) return
  if (state !== undefined) return void moveNextFire(draft, context)
  if (followsZone(definition.spec)) draft.extraTimers.push(...timersOf(draft.job))
}

/** The fields of a state that say what is due next. */
export type NextFire = Pick<JobState, 'nextFireAt' | 'decidedFor'>

/** Whether a look can find anything at a job of this definition. */
export const mayMove = (spec: JobDefinition | undefined): boolean => spec !== undefined && followsZone(spec)
