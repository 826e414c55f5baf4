/** Commands of operators and follow-ups to one job. */
import type { ActiveRun, JobCommand, JobState } from '../../schemas/index.ts'
import {
  beginAttempt,
  beginBackfill,
  cancelRun,
  completeIfDone,
  dropDeadSnapshot,
  dropFollowUps,
  executionOf,
  followUp,
  goOnWithBackfill,
  isOver,
  keepSnapshot,
  skipNext,
  startQueued,
  startRun,
  startTriggered,
} from '../runs/index.ts'
import {
  type Context,
  type Decision,
  isRepeated,
  patchRun,
  patchState,
  pristineState,
  refuse,
  refuseCommand,
  remembered,
  waitsForHandler,
  waitsForPool,
} from '../state/index.ts'

const makesRuns: ReadonlySet<JobCommand['type']> = new Set(['TRIGGER', 'REDRIVE', 'BACKFILL'])
/** A BACKFILL makes its runs as there is room for them. */
const makesOneRun: ReadonlySet<JobCommand['type']> = new Set(['TRIGGER', 'REDRIVE'])
const ends: ReadonlySet<JobCommand['type']> = new Set(['CANCEL', 'CANCEL_RUN'])

export function applyCommand(draft: Decision, command: JobCommand, context: Context): void {
  const before = draft.job.state ?? pristineState(draft.job)
  const unusable =
    draft.job.definition === undefined ? 'no-such-job' : isRepeated(before, command.commandId) ? 'repeated' : undefined
  if (unusable !== undefined) {
    draft.notes.push({ kind: 'stale', what: command.type })
    draft.refusal = unusable
    return
  }
  patchState(draft, { recentCommands: remembered(before, command.commandId) })
  const reason = reasonToRefuse(draft, command, context)
  if (reason === undefined) return carryOut(draft, command, context)
  refuseCommand(draft, command, reason, context.now)
}

/** Why a command is refused, by checks that do not depend on its arguments. */
function reasonToRefuse({ job: { definition, state } }: Decision, command: JobCommand, { now }: Context): string | undefined {
  const { type } = command
  const isEnd = ends.has(type) || (type === 'BACKFILL' && command.discard)
  // A follow-up waits until the job can run.
  if (type === 'TRIGGER' && command.trigger === 'FOLLOW_UP')
    return definition?.spec !== undefined && isOver(definition.spec, now) ? 'expired' : undefined
  if (definition?.spec === undefined) return isEnd ? undefined : 'invalid-definition'
  if (!makesRuns.has(type) || isEnd || retryOf(state, command) !== undefined) return undefined
  if (state?.status === 'INVALID') return 'invalid-definition'
  // Its run would expire at once.
  if (isOver(definition.spec, now)) return 'expired'
  // Overlap applies to occurrences only. A run by command may be active with others, up to maxConcurrentRuns.
  const full = makesOneRun.has(type) && (state?.active.length ?? 0) >= definition.spec.maxConcurrentRuns
  return full ? 'max-concurrent-runs' : undefined
}

/**
 * The run that a REDRIVE does not repeat but continues, because it waits for a retry: its next attempt begins now. An owner of an earlier
 * version refuses such a command, because the run is not dead; a new type of command it could not decode.
 */
function retryOf(state: JobState | undefined, { type, runNo }: JobCommand): ActiveRun | undefined {
  if (type !== 'REDRIVE') return undefined
  const run = state?.active.find((active) => active.runNo === runNo && active.status === 'RETRY_WAIT')
  return run === undefined || waitsForHandler(run) || waitsForPool(run) ? undefined : run
}

function carryOut(draft: Decision, command: JobCommand, context: Context): void {
  const state = draft.job.state ?? pristineState(draft.job)
  switch (command.type) {
    case 'TRIGGER':
      return trigger(draft, command, context)
    case 'PAUSE':
      if (state.status === 'ACTIVE') patchState(draft, { status: 'PAUSED', pausedByCommand: true })
      // For an INVALID job the pause takes effect when the job is valid again.
      else if (state.status !== 'COMPLETED' && !state.pausedByCommand) patchState(draft, { pausedByCommand: true })
      return
    case 'RESUME':
      if (state.status === 'INVALID' && state.pausedByCommand) patchState(draft, { pausedByCommand: false })
      // The frozen time may have passed: its timer then pops at once and catch-up decides.
      if (state.status !== 'PAUSED') return
      patchState(draft, { status: 'ACTIVE', pausedByCommand: false })
      startQueued(draft, context)
      goOnWithBackfill(draft, context)
      return completeIfDone(draft, context.now)
    case 'CANCEL':
      return cancelJob(draft, context)
    case 'CANCEL_RUN': {
      if (command.discard) return discard(draft, command, context)
      if (command.runNo === null && command.from !== null) return skipNext(draft, command, context)
      const run = state.active.find(({ runNo }) => runNo === command.runNo)
      if (run !== undefined) return cancelRun(draft, run, 'command', context)
      return refuseCommand(draft, command, 'no-such-run', context.now)
    }
    case 'REDRIVE':
      return redrive(draft, command, context)
    case 'BACKFILL':
      return beginBackfill(draft, command, context)
  }
}

/** Cancels the job: nothing runs any more. A new definition revives it. */
function cancelJob(draft: Decision, context: Context): void {
  patchState(draft, { nextFireAt: null, queuedFor: null, backfill: null, waiting: false, reason: 'cancelled' })
  dropFollowUps(draft, 'command', context.now)
  refuse(draft, { at: context.now, what: 'CANCELLED', reason: 'command' })
  for (const run of draft.job.state?.active ?? []) cancelRun(draft, run, 'command', context)
  // Without this an interval from END would continue from the end of the cancelled run.
  patchState(draft, { nextFireAt: null })
  completeIfDone(draft, context.now)
}

/** Redrives a dead run: a new run with the snapshot of the dead one. A run that waits for a retry is retried now. */
function redrive(draft: Decision, command: JobCommand, context: Context): void {
  const { commandId, runNo } = command
  const state = draft.job.state ?? pristineState(draft.job)
  const waiting = retryOf(state, command)
  if (waiting !== undefined) return beginAttempt(draft, patchRun(draft, waiting, { dueAt: context.now }), context)
  const spec = draft.job.definition?.spec
  const kept = runNo === null ? undefined : draft.job.snapshots?.get(runNo)
  if (spec === undefined || runNo === null || kept === undefined || !state.deadRuns.includes(runNo)) {
    return refuseCommand(draft, command, 'no-such-dead-run', context.now)
  }
  draft.job.snapshots = new Map(draft.job.snapshots).set(state.runNo + 1, kept)
  patchState(draft, { deadRuns: state.deadRuns.filter((other) => other !== runNo) })
  dropDeadSnapshot(draft, runNo)
  const { scheduledFor } = kept
  const run = startRun(draft, spec, 'REDRIVE', scheduledFor, context.now, context, { commandId, snapshot: true })
  keepSnapshot(draft, executionOf(draft.job, run, context.now))
}

/** Discards a dead run: its record stays, and it can no longer be redriven. */
function discard(draft: Decision, command: JobCommand, context: Context): void {
  const { runNo } = command
  const { deadRuns } = draft.job.state ?? pristineState(draft.job)
  if (runNo === null || !deadRuns.includes(runNo)) return refuseCommand(draft, command, 'no-such-dead-run', context.now)
  patchState(draft, { deadRuns: deadRuns.filter((other) => other !== runNo) })
  dropDeadSnapshot(draft, runNo)
}

function trigger(draft: Decision, command: JobCommand, context: Context): void {
  const spec = draft.job.definition?.spec
  if (command.trigger === 'FOLLOW_UP') followUp(draft, command, context)
  else if (spec !== undefined) startTriggered(draft, spec, 'MANUAL', command, context.now, context)
}
