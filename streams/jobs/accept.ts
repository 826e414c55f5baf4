/**
 * A definition arrives, replaces another, or is deleted.
 *
 * As long as nothing was decided about a job there is no state, and all about it follows from its record (invariant I2). A definition
 * at or before `specOffset` is already part of the state; a later one is a new input to it.
 */
import type { ActiveRun, JobDefinition, JobState } from '../../schemas/index.ts'
import { neverProblem } from '../definitions/index.ts'
import {
  completeIfDone,
  executionOf,
  goOnWithBackfill,
  keepSnapshot,
  type NextFire,
  snapshotNosOf,
  startQueued,
  tellOfCancel,
} from '../runs/index.ts'
import { decidedTime, firstFire, nextByRules, nextFire } from '../schedules/index.ts'
import {
  type Context,
  type Decision,
  holds,
  type Input,
  type KnownDefinition,
  patchState,
  pristineState,
  refuse,
  skip,
  timerKind,
  timesHash,
} from '../state/index.ts'
import { isNever } from './never.ts'
import { suspend, targetProblem } from './recheck.ts'

export function acceptDefinition(draft: Decision, input: Extract<Input, { kind: 'definition' }>, context: Context): void {
  const { definition, decided = false, onlyOver } = input
  const before = { ...draft.job }
  // One that the changelog keeps is covered by a logged position: whatever is not decided came after it, also where jobs was made anew and
  // numbers its records from 0 again.
  const isLater = !decided && before.state?.definitionKept === true
  if (!isLater && before.definition !== undefined && definition.offset <= before.definition.offset) return
  if (before.state !== undefined && definition.offset < before.state.specOffset) return
  if (decided) {
    // Whatever was taken stands in the state: a later one was dropped.
    if (before.state === undefined || definition.offset <= before.state.specOffset) draft.job.definition = definition
    return
  }
  if (!holds(onlyOver, before.definition)) {
    if (before.definition !== undefined) return drop(draft, before.definition, definition, 'precondition')
    // There is no such job, but its record stands in jobs: a tombstone takes it away, unless it is defined anew meanwhile.
    return void draft.out.push({ kind: 'tombstone', observedOffset: definition.offset })
  }
  const dropped = before.unreadable === undefined ? reasonToDrop(before.definition, definition) : undefined
  if (dropped !== undefined) return drop(draft, before.definition, definition, dropped)
  draft.job.definition = definition
  if (definition.spec === undefined) draft.notes.push({ kind: 'invalid', reason: definition.problem ?? '' })
  if (!isLater && before.state !== undefined && definition.offset === before.state.specOffset) return
  const refusal = targetProblem(before.id, definition, context)
  if (refusal !== undefined) draft.notes.push({ kind: 'invalid', reason: refusal })
  const phase = keptPhase(before, definition)
  if (before.state === undefined && refusal === undefined && followsFromRecord(before, definition, phase)) return
  if (before.state === undefined && definition.spec === undefined && before.definition?.spec === undefined) return
  keepActiveRuns(draft, before.definition, before.state)
  replaceState(draft, definition, before, phase)
  // Whether a topic is there does not follow from the record, so this is logged; the next time is frozen, as that of a paused job.
  if (refusal !== undefined) return suspend(draft, definition, refusal, context)
  if (definition.spec === undefined || isNever(draft, definition)) return
  // What waited while the job was paused or its definition could not be used.
  startQueued(draft, context)
  goOnWithBackfill(draft, context)
  completeIfDone(draft, definition.appendedAt)
}

/** Why a definition is not taken although it is sound. */
function reasonToDrop(inForce: KnownDefinition | undefined, next: KnownDefinition): 'stale-version' | 'duplicate' | undefined {
  const [old, spec] = [inForce?.spec, next.spec]
  if (inForce === undefined || old === undefined || spec === undefined) return undefined
  if (old.version !== null && spec.version !== null && spec.version < old.version) return 'stale-version'
  const repeated = spec.dedupKey !== null && spec.dedupKey === old.dedupKey
  return repeated && next.appendedAt - inForce.appendedAt <= spec.dedupWindowMs ? 'duplicate' : undefined
}

/** Compaction will keep only the one that was dropped, so the one in force has to live in the changelog. */
function drop(
  draft: Decision,
  inForce: KnownDefinition | undefined,
  { offset, appendedAt }: KnownDefinition,
  reason: string,
): void {
  if (draft.job.state?.definitionKept !== true) draft.keptDefinition = inForce
  patchState(draft, { definitionKept: true, droppedOffset: offset })
  refuse(draft, { at: appendedAt, what: 'DROPPED', reason })
}

/** Whether all about a job without state still follows from its record alone. */
function followsFromRecord(before: Decision['job'], { spec, appendedAt }: KnownDefinition, phase: boolean): boolean {
  const first = spec === undefined ? null : firstFire(spec, appendedAt)
  return first !== null && (!phase || first === pristineState(before).nextFireAt)
}

/**
 * Whether the times in force stay so. An unanchored interval that is sent again and again would else never fire, and what is due and
 * has not fired yet would be forgotten.
 */
function keptPhase(before: Decision['job'], next: KnownDefinition): boolean {
  if (next.spec === undefined || next.spec.schedule.delayMs !== null) return false
  if (before.state === undefined && before.definition?.spec === undefined) return false
  const { timesHash: hash, anchorAt, nextFireAt } = before.state ?? pristineState(before)
  // One that never came true from where it began begins anew.
  return timesHash(next.spec) === hash && (nextFireAt !== null || neverProblem(next.spec, anchorAt) === undefined)
}

/** Runs in flight keep the payload and target they were made with: one copy for all of them. */
function keepActiveRuns(draft: Decision, old: KnownDefinition | undefined, state: JobState | undefined): void {
  const first = state?.active.find((run) => !run.snapshot)
  if (state === undefined || old?.spec === undefined || first === undefined) return
  keepSnapshot(draft, executionOf({ ...draft.job, definition: old }, first, first.dispatchedAt))
  const { runNo } = first
  const keep = (run: ActiveRun): ActiveRun =>
    run.snapshot ? run : { ...run, snapshot: true, snapshotRunNo: run === first ? null : runNo }
  patchState(draft, { active: state.active.map(keep) })
}

function replaceState(draft: Decision, definition: KnownDefinition, before: Decision['job'], phase: boolean): void {
  const { spec, offset, appendedAt } = definition
  if (before.state?.definitionKept) {
    draft.keptDefinition = null
    patchState(draft, { definitionKept: false, droppedOffset: -1 })
  }
  if (spec === undefined) {
    // What was due and the phase outlive it: a definition that can be used again goes on from there.
    draft.job.state ??= pristineState(before)
    patchState(draft, {
      specOffset: offset,
      status: 'INVALID',
      reason: definition.problem ?? null,
      deleteAt: null,
      recheckAt: null,
    })
    return
  }
  const old = before.state ?? pristineState(before)
  if (!phase) dropPending(draft, appendedAt)
  const anchorAt = phase ? old.anchorAt : appendedAt
  patchState(draft, {
    specOffset: offset,
    anchorAt,
    timesHash: timesHash(spec),
    status: spec.paused || old.pausedByCommand ? 'PAUSED' : 'ACTIVE',
    ...fireAfterReplacement(spec, { ...old, queuedFor: draft.job.state?.queuedFor ?? null }, anchorAt, appendedAt, phase),
    waiting: false,
    reason: null,
    finishedAt: null,
    deleteAt: null,
    recheckAt: null,
  })
}

/** Other times: what waits under the old ones does not run under the new. */
function dropPending(draft: Decision, at: number): void {
  const { queuedFor = null, backfill = null } = draft.job.state ?? {}
  if (queuedFor !== null) {
    patchState(draft, { queuedFor: null })
    skip(draft, 'replaced', 1, { at, scheduledFor: queuedFor })
  }
  if (backfill !== null) {
    patchState(draft, { backfill: null })
    refuse(draft, { at, what: 'DROPPED', reason: 'replaced', scheduledFor: backfill.nextAt })
  }
}

function fireAfterReplacement(
  spec: JobDefinition,
  old: JobState,
  anchorAt: number,
  appendedAt: number,
  phase: boolean,
): NextFire {
  const none = { nextFireAt: null, decidedFor: null }
  if (spec.maxRuns !== null && old.scheduledRuns >= spec.maxRuns) return none
  const recurs = spec.schedule.at === null && spec.schedule.delayMs === null
  // An instant ahead that is not due any more was cancelled, and is revived.
  const revived = !recurs && old.nextFireAt === null && (spec.schedule.at ?? 0) > appendedAt
  if (phase && (old.nextFireAt !== null || (!recurs && !revived))) {
    // While it could not be used, the rules of its time zone may have changed.
    return { nextFireAt: nextByRules(spec, old, 0).nextFireAt, decidedFor: old.decidedFor }
  }
  if (waitsForEnd(spec, old)) return none
  // An occurrence that became a run may not be past yet: it was dispatched ahead of its time, or by an owner whose clock was ahead.
  const { latestFiredFor } = old
  if (spec.schedule.at !== null && spec.schedule.at === latestFiredFor) return none
  const fired = latestFiredFor ?? Number.NEGATIVE_INFINITY
  const after = recurs ? Math.max(fired, phase ? appendedAt : Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY
  return { nextFireAt: nextFire(spec, anchorAt, after), decidedFor: decidedTime(spec, after) }
}

/** An interval from the END of a scheduled run that is still active, or queued, goes on when that run ends. */
const waitsForEnd = (spec: JobDefinition, { active, queuedFor }: JobState): boolean =>
  spec.schedule.from === 'END' && (queuedFor !== null || active.some((run) => run.trigger === 'SCHEDULE'))

/** Forgets the job, unless the tombstone was meant for an older definition. Its runs end with it: workers are told, and slots are free at once. */
export function acceptDeletion(draft: Decision, deletion: Extract<Input, { kind: 'deletion' }>): void {
  const { definition, state } = draft.job
  // The definition in force. While its record has not been read again the state knows of a later one than the store.
  const inForce = Math.max(definition?.offset ?? -1, state?.specOffset ?? -1)
  if (inForce > deletion.offset) return
  if (deletion.decided) {
    // The state, if there is one, came from the changelog and outlived this, and so did a definition that the changelog keeps for it.
    if (state?.definitionKept && definition?.offset === state.specOffset) return
    if ((definition?.offset ?? -1) <= (deletion.observedOffset ?? deletion.offset)) draft.job.definition = undefined
    return
  }
  if (draft.job.definition !== undefined && !holds(deletion.onlyOver, draft.job.definition)) return outlive(draft, inForce)
  if (isOutdated(draft.job, inForce, deletion)) return outlive(draft, inForce)
  if (state !== undefined) {
    draft.dropRing = state.runNo > 1
    for (const run of state.active) {
      tellOfCancel(draft, run, 'deleted')
      draft.notes.push({ kind: 'ended', status: 'CANCELLED' })
    }
    draft.snapshotDeletes.push(...snapshotNosOf(state))
    if (state.definitionKept) draft.keptDefinition = null
  }
  // Nothing of it may show in a job of the same id: run numbers begin anew.
  draft.job = { id: draft.job.id }
}

/**
 * Whether an owner's tombstone no longer holds. It is written before the commit and outside of it, so that a job may be defined anew or
 * triggered before it is read; and an owner that was suspended may write one for what its successor has revived. A user's always holds.
 */
function isOutdated(
  { definition, state }: Decision['job'],
  inForce: number,
  { observedOffset, observedDeleteAt }: Extract<Input, { kind: 'deletion' }>,
): boolean {
  if (observedOffset === undefined) return false
  if (Math.max(inForce, state?.droppedOffset ?? -1) > observedOffset) return true
  // It takes away the record of a definition that was never in force, of which there is nothing else.
  if (definition === undefined) return false
  const deleteAt = state?.deleteAt ?? null
  // Those of earlier versions say nothing of the time.
  return deleteAt === null || (observedDeleteAt !== undefined && observedDeleteAt !== deleteAt) || (state?.active.length ?? 0) > 0
}

/**
 * The tombstone was meant for an older definition, or for a job that had ended. Compaction will keep only the tombstone, so the newer definition has to live in the
 * changelog. It cannot be sent to jobs again: the copy might overtake a definition or a deletion that somebody sends at this moment.
 */
function outlive(draft: Decision, inForce: number): void {
  const { definition, state } = draft.job
  if (definition?.offset === inForce && !state?.definitionKept) {
    patchState(draft, { definitionKept: true })
    draft.keptDefinition = definition
  }
  // What is newer may have been dropped. The job is deleted all the same, by a tombstone that knows of it.
  const deleteAt = state?.deleteAt ?? null
  if (deleteAt !== null) draft.extraTimers.push({ dueAt: deleteAt, kind: timerKind.delete, jobId: draft.job.id, runNo: 0 })
}
