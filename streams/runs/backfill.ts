/** One run for each occurrence of a past range, a few at a time: as many as the job may have beside one another. */
import type { JobCommand, JobDefinition, JobState } from '../../schemas/index.ts'
import { nextFireUnbounded } from '../schedules/index.ts'
import { type Context, type Decision, patchState, pristineState, refuse, refuseCommand } from '../state/index.ts'
import { isOver } from './completion.ts'
import { startRun } from './start.ts'

/** Bytes of the runs that one step begins, or one run. The others begin as these end, as many each time. */
export const backfillBytesMax = 4 * 1024 * 1024

/** Runs of a job of so many bytes that one step may begin. */
export const backfillRunsMax = (bytes: number): number => Math.max(1, Math.floor(backfillBytesMax / Math.max(1, bytes)))

/** Begins a backfill. Refused while another goes on, without a range, and for a schedule that does not recur. */
export function beginBackfill(draft: Decision, command: JobCommand, context: Context): void {
  const { commandId, from, to } = command
  const state = draft.job.state ?? pristineState(draft.job)
  const spec = draft.job.definition?.spec
  if (spec === undefined) return
  const end = Math.min(to ?? 0, context.now)
  // Also what no calendar can hold: a command may come from any program.
  const nextAt = from === null || from < 0 || from >= end ? null : occurrenceAt(spec, state, from, end)
  const recurs = spec.schedule.at === null && spec.schedule.delayMs === null
  const reason =
    unfitFor(spec) ??
    (state.backfill !== null ? 'backfill-active' : !recurs ? 'does-not-recur' : nextAt === null ? 'empty-range' : '')
  if (reason !== '' || nextAt === null) {
    return refuseCommand(draft, command, reason, context.now)
  }
  patchState(draft, { backfill: { commandId, nextAt, to: end } })
  goOnWithBackfill(draft, context)
}

/** Starts as many runs of the backfill as there is room for, beside one another and in one step. */
export function goOnWithBackfill(draft: Decision, context: Context): void {
  const runsMax = backfillRunsMax(draft.job.definition?.bytes.length ?? 0)
  for (let begun = 0; begun < runsMax; begun++) {
    const { state, definition } = draft.job
    const spec = definition?.spec
    const backfill = state?.backfill ?? null
    if (state === undefined || spec === undefined || backfill === null) return
    // While its definition cannot be used nothing of the job runs: its pool may have no topics, and a record to none fails its neighbours too.
    if (state.status === 'PAUSED' || state.status === 'INVALID') return
    const unfit = unfitFor(spec)
    if (unfit !== undefined) {
      // Its definition was replaced by one that no backfill can go on under.
      patchState(draft, { backfill: null })
      return refuse(draft, { at: context.now, what: 'DROPPED', reason: unfit, scheduledFor: backfill.nextAt })
    }
    const { commandId, nextAt, to } = backfill
    if (isOver(spec, context.now)) {
      patchState(draft, { backfill: null })
      return refuse(draft, { at: context.now, what: 'DROPPED', reason: 'expired', scheduledFor: nextAt })
    }
    if (state.active.length >= placesFor(spec, state, context.now)) return
    const following = occurrenceAt(spec, state, nextAt + 1, to)
    patchState(draft, { backfill: following === null ? null : { ...backfill, nextAt: following } })
    startRun(draft, spec, 'BACKFILL', nextAt, context.now, context, { commandId })
  }
}

/** Runs that may be active for the backfill to add one. An occurrence that is due goes first, and fire.ts comes back when it is decided. */
function placesFor(spec: JobDefinition, { status, nextFireAt, nextDueAt }: JobState, now: number): number {
  const due = status === 'ACTIVE' && nextFireAt !== null && (nextDueAt ?? nextFireAt) <= now
  return (spec.overlap === 'ALLOW' ? spec.maxConcurrentRuns : 1) - (due ? 1 : 0)
}

/** Why the job's runs cannot be made a few at a time: they are over with the step that makes them. */
function unfitFor({ target, trackRuns }: JobDefinition): string | undefined {
  if (target.topic !== null) return 'topic-target'
  return trackRuns ? undefined : 'not-tracked-backfill'
}

/** First nominal time at or after `from` and before `to`, also one before the job was defined. */
function occurrenceAt(spec: JobDefinition, { anchorAt }: JobState, from: number, to: number): number | null {
  const found = nextFireUnbounded(spec, anchorAt, from - 1)
  return found !== null && found < to ? found : null
}
