/**
 * Acceptance of definitions and deletions.
 *
 * Until the first decision about a job there is no state, and everything follows from its record (invariant I2). A definition at or
 * before `specOffset` is already part of the state. A later one is a new input.
 */
import type { ActiveRun, JobDefinition, JobState } from '../../schemas/index.ts'
import { noOccurrenceProblem } from '../definitions/index.ts'
import {
  completeIfDone,
  dropPages,
  endWithJob,
  executionOf,
  goOnWithBackfill,
  keepSnapshot,
  type NextFire,
  snapshotNosOf,
  startQueued,
} from '../runs/index.ts'
import { decidedTime, firstFire, nextByRules, nextFire } from '../schedules/index.ts'
import {
  type Context,
  type Decision,
  holds,
  type Input,
  type KnownDefinition,
  type OnlyOver,
  patchState,
  pristineState,
  refuse,
  skip,
  timerKind,
  timesHash,
} from '../state/index.ts'
import { invalidateWithoutOccurrence, suspend, targetProblem } from './recheck.ts'

export function acceptDefinition(draft: Decision, input: Extract<Input, { kind: 'definition' }>, context: Context): void {
  const { definition, decided = false, onlyOver } = input
  const before = { ...draft.job }
  // A retained definition is covered by a logged position. So an undecided record is later, also if jobs was recreated and its offsets
  // begin at 0 again.
  const isLater = !decided && before.state?.definitionKept === true
  if (!isLater && before.definition !== undefined && definition.offset <= before.definition.offset) return
  if (before.state !== undefined && definition.offset < before.state.specOffset) return
  if (decided) {
    if (isInForce(before.state, definition, onlyOver)) draft.job.definition = definition
    return
  }
  if (!holds(onlyOver, before.definition)) {
    if (before.definition !== undefined) return drop(draft, before.definition, definition, 'precondition')
    // There is no such job, but its record is in jobs. A tombstone removes it, unless the job is defined again meanwhile.
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
  if (before.state === undefined && refusal === undefined && followsFromRecord(before, definition, phase)) {
    // That a condition held does not follow from the record.
    if (onlyOver !== undefined) patchState(draft, {})
    return
  }
  keepActiveRuns(draft, before.definition, before.state)
  replaceState(draft, definition, before, phase)
  // Whether a topic exists does not follow from the record, so this is logged. The next time is frozen as for a paused job.
  if (refusal !== undefined) return suspend(draft, definition, refusal, context)
  if (definition.spec === undefined || invalidateWithoutOccurrence(draft, definition)) return
  // Continues the work that waited while the job was paused or INVALID.
  startQueued(draft, context)
  goOnWithBackfill(draft, context)
  completeIfDone(draft, definition.appendedAt)
}

/** Why a valid definition is not accepted. */
function reasonToDrop(inForce: KnownDefinition | undefined, next: KnownDefinition): 'stale-version' | 'duplicate' | undefined {
  const [old, spec] = [inForce?.spec, next.spec]
  if (inForce === undefined || old === undefined || spec === undefined) return undefined
  if (old.version !== null && spec.version !== null && spec.version < old.version) return 'stale-version'
  const repeated = spec.dedupKey !== null && spec.dedupKey === old.dedupKey
  return repeated && next.appendedAt - inForce.appendedAt <= spec.dedupWindowMs ? 'duplicate' : undefined
}

/** Drops a definition. Compaction will keep only the dropped record, so the changelog must keep the definition in force. */
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

/**
 * Whether a definition that is decided was accepted. With a state, each accepted one is at or before its offset, and a later one was
 * dropped. Without a state, one with a condition was refused: its condition cannot be checked again, because compaction may have removed
 * the record that it names. So an accepted one always has a state.
 */
const isInForce = (state: JobState | undefined, { offset }: KnownDefinition, onlyOver: OnlyOver | undefined): boolean =>
  state === undefined ? onlyOver === undefined : offset <= state.specOffset

/** Whether everything about a job without state still follows from its record alone. */
function followsFromRecord(before: Decision['job'], { spec, appendedAt }: KnownDefinition, phase: boolean): boolean {
  if (spec === undefined && before.definition?.spec === undefined) return true
  const first = spec === undefined ? null : firstFire(spec, appendedAt)
  return first !== null && (!phase || first === pristineState(before).nextFireAt)
}

/**
 * Whether the present times stay in force. Otherwise an unanchored interval that is sent again and again would never fire, and a due
 * occurrence that has not fired yet would be lost.
 */
function keptPhase(before: Decision['job'], next: KnownDefinition): boolean {
  if (next.spec === undefined || next.spec.schedule.delayMs !== null) return false
  if (before.state === undefined && before.definition?.spec === undefined) return false
  const { timesHash: hash, anchorAt, nextFireAt } = before.state ?? pristineState(before)
  // A schedule that never had an occurrence from its anchor gets a new anchor.
  return timesHash(next.spec) === hash && (nextFireAt !== null || noOccurrenceProblem(next.spec, anchorAt) === undefined)
}

/** Active runs keep the payload and target that they were made with, in one snapshot for all of them. */
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
    // The next time and the anchor are kept: a later valid definition continues from there.
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

/** With other times, work that waits under the old times does not run. */
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
  // A future instant without a next time was cancelled, and is revived.
  const revived = !recurs && old.nextFireAt === null && (spec.schedule.at ?? 0) > appendedAt
  if (phase && (old.nextFireAt !== null || (!recurs && !revived))) {
    // While the job was INVALID, the rules of its time zone may have changed.
    return { nextFireAt: nextByRules(spec, old, 0).nextFireAt, decidedFor: old.decidedFor }
  }
  if (waitsForEnd(spec, old)) return none
  // An occurrence that became a run may still be in the future: it was dispatched early, or by an owner whose clock was ahead.
  const { latestFiredFor } = old
  if (spec.schedule.at !== null && spec.schedule.at === latestFiredFor) return none
  const fired = latestFiredFor ?? Number.NEGATIVE_INFINITY
  const after = recurs ? Math.max(fired, phase ? appendedAt : Number.NEGATIVE_INFINITY) : Number.NEGATIVE_INFINITY
  return { nextFireAt: nextFire(spec, anchorAt, after), decidedFor: decidedTime(spec, after) }
}

/** An interval from the END of a scheduled run continues when that active or queued run ends. */
const waitsForEnd = (spec: JobDefinition, { active, queuedFor }: JobState): boolean =>
  spec.schedule.from === 'END' && (queuedFor !== null || active.some((run) => run.trigger === 'SCHEDULE'))

/**
 * Deletes the job, unless the tombstone is for an older definition. Its runs end with it: their workers get a cancellation, and
 * their slots are free at once.
 */
export function acceptDeletion(draft: Decision, deletion: Extract<Input, { kind: 'deletion' }>, { now }: Context): void {
  const { definition, state } = draft.job
  // Offset of the definition in force. Until its record is read again, the state has a later offset than the store.
  const inForce = Math.max(definition?.offset ?? -1, state?.specOffset ?? -1)
  if (inForce > deletion.offset) return
  if (deletion.decided) {
    // A state came from the changelog, so it is later than this deletion. The same holds for its retained definition.
    if (state?.definitionKept && definition?.offset === state.specOffset) return
    if ((definition?.offset ?? -1) <= (deletion.observedOffset ?? deletion.offset)) draft.job.definition = undefined
    return
  }
  if (draft.job.definition !== undefined && !holds(deletion.onlyOver, draft.job.definition)) return outlive(draft, inForce)
  if (isOutdated(draft.job, inForce, deletion)) return outlive(draft, inForce)
  if (state !== undefined) {
    draft.deletesHistory = state.runNo > 1
    for (const run of state.active) endWithJob(draft, run, now)
    draft.snapshotDeletes.push(...snapshotNosOf(state))
    if (state.followUps !== null) dropPages(draft, state.followUps)
    if (state.definitionKept) draft.keptDefinition = null
  }
  // Nothing of it may appear in a later job with the same id: run numbers start again at 1.
  draft.job = { id: draft.job.id }
}

/**
 * Whether an owner's tombstone is outdated. It is written before the commit and outside of it, so the job may be defined again or
 * triggered before the tombstone is read. And an owner that was suspended may write one for a job that the next owner has revived. A
 * tombstone of a user is never outdated.
 */
function isOutdated(
  { definition, state }: Decision['job'],
  inForce: number,
  { observedOffset, observedDeleteAt }: Extract<Input, { kind: 'deletion' }>,
): boolean {
  if (observedOffset === undefined) return false
  if (Math.max(inForce, state?.droppedOffset ?? -1) > observedOffset) return true
  // The tombstone removes the record of a definition that was never in force.
  if (definition === undefined) return false
  const deleteAt = state?.deleteAt ?? null
  return deleteAt === null || observedDeleteAt !== deleteAt || (state?.active.length ?? 0) > 0
}

/**
 * The tombstone was for an older definition, or for a job that had ended. Compaction will keep only the tombstone, so the changelog must
 * keep the newer definition. It cannot be sent to jobs again, because the copy might come after a definition or deletion that a user
 * sends at this moment.
 */
function outlive(draft: Decision, inForce: number): void {
  const { definition, state } = draft.job
  if (definition?.offset === inForce && !state?.definitionKept) {
    patchState(draft, { definitionKept: true })
    draft.keptDefinition = definition
  }
  // The newer definition may have been dropped. The job is still deleted, by a tombstone with its offset.
  const deleteAt = state?.deleteAt ?? null
  if (deleteAt !== null) draft.extraTimers.push({ dueAt: deleteAt, kind: timerKind.delete, jobId: draft.job.id, runNo: 0 })
}
