/** Backfill: one run for each occurrence of a past range, with as many at a time as the job may have active runs. */
import type { JobCommand, JobDefinition, JobState } from '../../schemas/index.ts'
import { nextFireUnbounded } from '../schedules/index.ts'
import { type Context, type Decision, patchState, pristineState, refuse, refuseCommand } from '../state/index.ts'
import { isByOwner } from '../targets/index.ts'
import { completeIfDone, isOver, startRun } from './start.ts'

/** Bytes of the runs that one step begins; at least one run. The others begin when these end. */
export const backfillBytesMax = 4 * 1024 * 1024

/** Runs that one step may begin, for a job with a definition of this size. */
export const backfillRunsMax = (bytes: number): number => Math.max(1, Math.floor(backfillBytesMax / Math.max(1, bytes)))

/** Begins a backfill. It is refused if another is active, if the range is empty, and if the schedule does not recur. */
export function beginBackfill(draft: Decision, command: JobCommand, context: Context): void {
  const { commandId, from, to } = command
  if (command.discard) return endBackfill(draft, command, context)
  const state = draft.job.state ?? pristineState(draft.job)
  const spec = draft.job.definition?.spec
  if (spec === undefined) return
  const end = Math.min(to ?? 0, context.now)
  // The range may also lie outside of every calendar, because a command may come from any program.
  const nextAt = from === null || from < 0 || from >= end ? null : occurrenceAt(spec, state, from, end)
  const recurs = spec.schedule.at === null && spec.schedule.delayMs === null
  const reason =
    unfitFor(spec) ??
    (state.backfill !== null ? 'backfill-active' : !recurs ? 'does-not-recur' : nextAt === null ? 'empty-range' : '')
  if (reason !== '' || from === null || nextAt === null) {
    return refuseCommand(draft, command, reason, context.now)
  }
  patchState(draft, { backfill: { commandId, nextAt, to: end, from, made: 0 } })
  goOnWithBackfill(draft, context)
}

/** The backfill in progress makes no further runs. Those that it has made go on. */
function endBackfill(draft: Decision, command: JobCommand, { now }: Context): void {
  const backfill = draft.job.state?.backfill ?? null
  if (backfill === null) return refuseCommand(draft, command, 'no-backfill', now)
  patchState(draft, { backfill: null })
  refuse(draft, { at: now, what: 'DROPPED', reason: 'command', scheduledFor: backfill.nextAt })
  completeIfDone(draft, now)
}

/** Starts as many runs of the backfill as the job and one step allow. */
export function goOnWithBackfill(draft: Decision, context: Context): void {
  const runsMax = backfillRunsMax(draft.job.definition?.bytes.length ?? 0)
  for (let begun = 0; begun < runsMax; begun++) {
    const { state, definition } = draft.job
    const spec = definition?.spec
    const backfill = state?.backfill ?? null
    if (state === undefined || spec === undefined || backfill === null) return
    // An INVALID job does not run: its pool may have no topics, and a record to a missing topic would fail the whole transaction.
    if (state.status === 'PAUSED' || state.status === 'INVALID') return
    const unfit = unfitFor(spec)
    if (unfit !== undefined) {
      // The new definition does not allow a backfill.
      patchState(draft, { backfill: null })
      return refuse(draft, { at: context.now, what: 'DROPPED', reason: unfit, scheduledFor: backfill.nextAt })
    }
    const { commandId, nextAt, to, made } = backfill
    if (isOver(spec, context.now)) {
      patchState(draft, { backfill: null })
      return refuse(draft, { at: context.now, what: 'DROPPED', reason: 'expired', scheduledFor: nextAt })
    }
    if (state.active.length >= placesFor(spec, state, context.now)) return
    const following = occurrenceAt(spec, state, nextAt + 1, to)
    patchState(draft, { backfill: following === null ? null : { ...backfill, nextAt: following, made: made + 1 } })
    startRun(draft, spec, 'BACKFILL', nextAt, context.now, context, { commandId })
  }
}

/**
 * The backfill adds a run while fewer runs than this are active. A due occurrence goes first, and so does a follow-up, which would wait for
 * the end of a long backfill; fire.ts and follow-ups.ts call again.
 */
function placesFor(spec: JobDefinition, state: JobState, now: number): number {
  const places = spec.overlap === 'ALLOW' ? spec.maxConcurrentRuns : 1
  return places - (isDue(state, now) ? 1 : 0) - (state.followUps === null ? 0 : 1)
}

/** Whether an occurrence of the schedule is due, which other work leaves a place to. */
export const isDue = ({ status, nextFireAt, nextDueAt }: JobState, now: number): boolean =>
  status === 'ACTIVE' && nextFireAt !== null && (nextDueAt ?? nextFireAt) <= now

/** Why the job allows no backfill: its runs end in the step that makes them, so they cannot be limited to a few at a time. */
const unfitFor = ({ target }: JobDefinition): string | undefined => (isByOwner(target) ? 'topic-target' : undefined)

export interface BackfillCount {
  occurrences: number
  /** Whether the range has more than `max`. */
  isMore: boolean
  /** Nominal times of the first and the last counted occurrence, in epoch ms. Null: there are none. */
  first: number | null
  last: number | null
}

/** Counts the runs that a backfill of the range would make, at most `max`. */
export function countBackfill(
  spec: JobDefinition,
  anchorAt: number,
  { from, to, max }: { from: number; to: number; max: number },
): BackfillCount {
  const first = occurrenceAt(spec, { anchorAt }, from, to)
  let [occurrences, at, last] = [0, first, first]
  while (at !== null && occurrences < max) {
    occurrences++
    last = at
    at = occurrenceAt(spec, { anchorAt }, at + 1, to)
  }
  return { occurrences, isMore: at !== null, first, last }
}

/** First nominal time at or after `from` and before `to`. It may be before the job was defined. */
function occurrenceAt(spec: JobDefinition, { anchorAt }: Pick<JobState, 'anchorAt'>, from: number, to: number): number | null {
  const found = nextFireUnbounded(spec, anchorAt, from - 1)
  return found !== null && found < to ? found : null
}
