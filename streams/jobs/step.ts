/**
 * The decision core: a job, an input and the time → a decision.
 * It is pure: the same arguments give the same decision on every machine, at any later time.
 */

import type { ActiveRun } from '../../schemas/index.ts'
import {
  admit,
  applyEvent,
  applyRunTimer,
  attemptErrorOf,
  bareExecution,
  dropSnapshot,
  endedRunOf,
  endRunsOfStep,
  fire,
  hasOwnInput,
  lookAtZone,
  startedAttemptsOf,
  startFollowUps,
  watchFollowUps,
} from '../runs/index.ts'
import {
  type Context,
  type Decision,
  draftOf,
  fittedState,
  type Input,
  type Job,
  patchState,
  pristineState,
  type Timer,
  timerKind,
  timersOf,
} from '../state/index.ts'
import { cutText } from '../text/index.ts'
import { acceptDefinition, acceptDeletion } from './accept.ts'
import { applyCommand } from './command.ts'
import { correctTimes } from './misdated-times.ts'
import { followTargets, recheckTarget } from './recheck.ts'
import { stepUnreadable } from './unreadable.ts'

/** Longest reason in a state. */
const reasonCharsMax = 500

export function step(job: Job, input: Input, context: Context): Decision {
  if (job.unreadable !== undefined) return shortened(stepUnreadable(job, input, context))
  const draft = draftOf(job)
  switch (input.kind) {
    case 'definition':
      acceptDefinition(draft, input, context)
      // Its timers may have come while there was no definition.
      if (job.definition === undefined && (job.state?.specOffset ?? 0) < 0) draft.extraTimers.push(...timersOf(draft.job))
      break
    case 'deletion':
      acceptDeletion(draft, input, context)
      break
    case 'command':
      applyCommand(draft, input.command, context)
      break
    case 'event':
      applyEvent(draft, input.event, context, input.note)
      break
    case 'timer':
      applyTimer(draft, input.timer, context)
      break
    case 'admit':
      admit(draft, input.waiter, context)
  }
  endRunsOfStep(draft, context)
  watchFollowUps(draft, context)
  return shortened(draft)
}

/** A logged state must never be too large for the log. */
function shortened(draft: Decision): Decision {
  const { state } = draft.job
  if (state === undefined || state === draft.before) return draft
  const fitted = fittedState(state)
  if (fitted === state) return draft
  draft.job.state = fitted
  draft.notes.push({ kind: 'shortened' })
  return draft
}

function applyTimer(draft: Decision, timer: Timer, context: Context): void {
  const { definition, state } = draft.job
  if (definition === undefined) {
    // The definition was deleted and compaction has removed its tombstone, so the rest of the job is deleted. This does not
    // happen if jobs was recreated: the run numbers must be kept, or they would start again at 1 with the next definition.
    if (state !== undefined && state.specOffset >= 0)
      acceptDeletion(draft, { kind: 'deletion', offset: Number.MAX_SAFE_INTEGER }, context)
    return
  }
  if (timer.kind === timerKind.fire) return fire(draft, timer, context)
  if (timer.kind === timerKind.followUps) return startFollowUps(draft, timer, context)
  if (timer.kind === timerKind.zone) return lookAtZone(draft, context)
  if (timer.kind === timerKind.misdated) return correctTimes(draft, timer, context)
  if (timer.kind === timerKind.target) return followTargets(draft, context)
  if (timer.kind === timerKind.recheck) return recheckTarget(draft, timer, context)
  if (timer.kind !== timerKind.delete) return applyRunTimer(draft, timer, context)
  if (state?.deleteAt === timer.dueAt && state.active.length === 0) {
    const observedOffset = Math.max(definition.offset, state.droppedOffset)
    draft.out.push({ kind: 'tombstone', observedOffset, observedDeleteAt: state.deleteAt })
  }
}

/**
 * Makes the job INVALID after a rule threw or the log refused its decision, so that only this job is affected. Its next time is frozen as
 * for a paused job. The affected run ends, because its timers and reports would fail again and again. It triggers no follow-ups. It only
 * has a dead letter that names its attempt, and a record on `runs`; with `hasDeadLetter` false it has neither. The state is the same object if nothing changes.
 */
export function invalidated(job: Job, reason: string, now: number, runNo = 0, hasDeadLetter = true): Decision {
  const draft = draftOf(job)
  draft.failed = true
  const text = reason.length > reasonCharsMax ? `${cutText(reason, reasonCharsMax)}…` : reason
  const state = job.state ?? pristineState(job)
  const run = state.active.find((candidate) => candidate.runNo === runNo)
  if (run === undefined && state.status === 'INVALID' && state.reason === text && state.deleteAt === null) return draft
  draft.job.state = { ...state, status: 'INVALID', reason: text, deleteAt: null, recheckAt: null }
  if (run !== undefined) endRun(draft, run, text, now, hasDeadLetter)
  draft.notes.push({ kind: 'invalid', reason: text })
  return shortened(draft)
}

/** Ends the run with the fields that are needed for its end. */
function endRun(draft: Decision, run: ActiveRun, message: string, now: number, hasDeadLetter: boolean): void {
  const { runNo, scheduledFor, trigger, commandId, attempt, startedAt, worker, specOffset, dueAt, dispatchedAt } = run
  const { active, lastRun, failed } = draft.job.state ?? pristineState(draft.job)
  const error = attemptErrorOf(run, { type: 'Unrecordable', message }, now)
  const ended = {
    runNo,
    scheduledFor,
    trigger,
    commandId,
    status: 'DEAD' as const,
    attempts: attempt,
    unstartedAttempts: run.unstartedAttempts,
    startedAt,
    finishedAt: now,
    ...{ worker, dueAt, dispatchedAt, hasOwnInput: hasOwnInput(run) },
  }
  const finished = { ...ended, result: null, note: null, hiddenHash: null, specOffset, errors: [error] }
  if (hasDeadLetter) {
    const letter = { jobId: draft.job.id, runNo, attempts: startedAttemptsOf(finished), deadAt: now, errors: [error] }
    draft.out.push({ kind: 'dead-letter', letter, execution: bareExecution(draft.job, run) })
    draft.endedRuns.push(endedRunOf(draft.job, run, finished, 'unrecordable'))
  }
  if (lastRun !== null) draft.historyPuts.push(lastRun)
  patchState(draft, {
    active: active.filter((other) => other.runNo !== runNo),
    lastRun: finished,
    failed: failed + 1,
  })
  dropSnapshot(draft, run)
  draft.notes.push({ kind: 'ended', status: 'DEAD' })
}
