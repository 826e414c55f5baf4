/**
 * The decision core: what is known of a job, something that happened, and the time → what follows.
 * Pure: the same arguments give the same decision, on every machine, at any later time.
 */
import { draftOf, pristineState } from './draft.ts'
import type { Context, Decision, Input, Job } from './job.ts'
import { acceptDefinition, acceptDeletion } from './jobs/accept.ts'
import { applyCommand } from './jobs/command.ts'
import { recheckTarget } from './jobs/recheck.ts'
import { fittedState } from './jobs/state-size.ts'
import { type Timer, timerKind } from './keys.ts'
import { applyEvent, applyRunTimer } from './runs/attempt.ts'
import { deliverAll } from './runs/deliver.ts'
import { fire } from './runs/fire.ts'
import { admit } from './runs/gate.ts'
import { lookAtZone } from './runs/zone-change.ts'

export function step(job: Job, input: Input, context: Context): Decision {
  const draft = draftOf(job)
  switch (input.kind) {
    case 'definition':
      acceptDefinition(draft, input, context)
      break
    case 'deletion':
      acceptDeletion(draft, input)
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
  deliverAll(draft, context)
  shorten(draft)
  return draft
}

/** What is logged must never be too large for the log. */
function shorten(draft: Decision): void {
  const { state } = draft.job
  if (state === undefined || state === draft.before) return
  const fitted = fittedState(state)
  if (fitted === state) return
  draft.job.state = fitted
  draft.notes.push({ kind: 'shortened' })
}

function applyTimer(draft: Decision, timer: Timer, context: Context): void {
  const { definition, state } = draft.job
  if (definition === undefined) {
    // The definition is gone, its tombstone was compacted away with it: what is left of the job goes too.
    if (state !== undefined) acceptDeletion(draft, { kind: 'deletion', offset: Number.MAX_SAFE_INTEGER })
    return
  }
  if (timer.kind === timerKind.fire) return fire(draft, timer, context)
  if (timer.kind === timerKind.zone) return lookAtZone(draft, context)
  if (timer.kind === timerKind.recheck) return recheckTarget(draft, timer, context)
  if (timer.kind !== timerKind.delete) return applyRunTimer(draft, timer, context)
  if (state?.deleteAt === timer.dueAt && state.active.length === 0) {
    const observedOffset = Math.max(definition.offset, state.droppedOffset)
    draft.out.push({ kind: 'tombstone', observedOffset, observedDeleteAt: state.deleteAt })
  }
}

/** The job as INVALID, for when a rule threw: the fault stays with this job. Its next time is frozen, as that of a paused one. */
export function invalidated(job: Job, reason: string): Decision {
  const draft = draftOf(job)
  draft.job.state = { ...(job.state ?? pristineState(job)), status: 'INVALID', reason, deleteAt: null, recheckAt: null }
  draft.notes.push({ kind: 'invalid', reason })
  return draft
}
