/** Change of a job's next occurrence after the rules of its time zone have changed (ADR 0040). */
import type { JobDefinition, JobState } from '../../schemas/index.ts'
import { decidedTime, dueAtOf, followsZone, type Move, nextByRules } from '../schedules/index.ts'
import { type Context, type Decision, type Job, patchState, skip, timersOf } from '../state/index.ts'
import { goOnWithBackfill } from './backfill.ts'
import { completeIfDone } from './start.ts'

/** Most occurrences that one move by new zone rules counts as skipped. */
export const zoneSkipsCountedMax = 1_000

/** The next occurrence of a job with a state by the present rules. Undefined: it does not change. */
export function zoneMoveOf({ id, definition, state }: Job): Move | undefined {
  const spec = definition?.spec
  if (spec === undefined || state === undefined || state.nextFireAt === null || !followsZone(spec)) return undefined
  const move = nextByRules(spec, state, zoneSkipsCountedMax)
  if (move.nextFireAt === null || move.nextFireAt !== state.nextFireAt || move.passed > 0) return move
  // With jitter its due time also depends on the following occurrence, which may have moved.
  const dueAt = spec.jitterMs === 0 ? null : dueAtOf(spec, state.anchorAt, id, move.nextFireAt)
  return dueAt === state.nextDueAt ? undefined : move
}

/** Moves the next occurrence to its time by the present rules. True: it has moved. If the new time is in the past, the catch-up policy applies. */
export function moveNextFire(draft: Decision, context: Context): boolean {
  const { now } = context
  const { state, definition } = draft.job
  const move = zoneMoveOf(draft.job)
  if (state === undefined || definition?.spec === undefined || move === undefined) return false
  const scheduledFor = state.nextFireAt ?? now
  // Occurrences that have passed are decided by this move. Without any the last decision stays, because the rules may change back.
  const decided = move.passed > 0 ? state.decidedFor : null
  const decidedFor = decided === null ? state.decidedFor : decidedTime(definition.spec, decided.at)
  // An occurrence that waits for the end of a run is checked again: it may no longer be due.
  patchState(draft, { nextFireAt: move.nextFireAt, decidedFor, waiting: false })
  if (move.passed > 0) skip(draft, 'zone-rules', move.passed, { at: now, scheduledFor })
  draft.notes.push({ kind: 'moved' })
  // The backfill has left room for an occurrence that is no longer due.
  goOnWithBackfill(draft, context)
  completeIfDone(draft, now)
  return true
}

/** Checks a job whose next occurrence may be based on other rules. For a job without a state the timer is set again. */
export function lookAtZone(draft: Decision, context: Context): void {
  const { definition, state } = draft.job
  if (definition?.spec === undefined) return
  if (state !== undefined) return void moveNextFire(draft, context)
  if (followsZone(definition.spec)) draft.extraTimers.push(...timersOf(draft.job))
}

/** The fields of a state for the next occurrence. */
export type NextFire = Pick<JobState, 'nextFireAt' | 'decidedFor'>

/** Whether the next time of a job with this definition can move. */
export const mayMove = (spec: JobDefinition | undefined): boolean => spec !== undefined && followsZone(spec)
