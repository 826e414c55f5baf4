/**
 * A job with an unreadable state in the store. It is INVALID until it is defined again or deleted; other jobs continue. Until then nothing
 * is decided about it, so its bytes in the log stay unchanged. If only their schema was missing, the job continues as soon as the schema
 * is there.
 */

import type { JobState } from '../../schemas/index.ts'
import {
  type Context,
  type Decision,
  draftOf,
  holds,
  type Input,
  type Job,
  lifeOf,
  patchState,
  pristineState,
} from '../state/index.ts'
import { cutText } from '../text/index.ts'
import { acceptDefinition, acceptDeletion } from './accept.ts'

/** Longest part of the decoder's message that is shown. */
const problemCharsMax = 200

/**
 * The replacement of an unreadable state. Its runs have a new life, because their numbers start again at 1. Whether the changelog retains
 * its definition is known to who loads the job.
 */
export function unreadableState(job: Job, problem: string): JobState {
  const reason = `What was decided about the job cannot be read (${cutText(problem, problemCharsMax)}); define it again, or delete it.`
  const life = `${lifeOf(job.definition)}u`
  return { ...pristineState(job), status: 'INVALID', reason, life, nextFireAt: null, nextDueAt: null }
}

/** Timers stay where they are, commands are refused, reports count as stale. */
export function stepUnreadable(job: Job, input: Input, context: Context): Decision {
  const draft = draftOf(job)
  if (input.kind === 'timer') draft.failed = true
  if (input.kind === 'admit') draft.admission = 'gone'
  if (input.kind === 'event') draft.notes.push({ kind: 'stale', what: input.event.type })
  if (input.kind === 'command') {
    draft.refusal = 'unreadable-state'
    draft.notes.push({ kind: 'refused', what: input.command.type, reason: draft.refusal, count: 1 })
  }
  if (input.kind === 'definition') define(draft, input, context)
  if (input.kind === 'deletion') acceptDeletion(draft, input, context)
  if (draft.job.state !== job.state) startNewLife(draft)
  return draft
}

function define(draft: Decision, input: Extract<Input, { kind: 'definition' }>, context: Context): void {
  const { definition } = input
  const inForce = draft.job.definition
  if (inForce !== undefined && definition.offset <= inForce.offset) return
  if (input.decided) {
    // With one that the changelog retains, a later one was refused.
    if (draft.before?.definitionKept !== true) draft.job.definition = definition
    return
  }
  // Only the precondition is checked. A stale version or a duplicate is accepted, because repairing the job matters more.
  if (holds(input.onlyOver, inForce)) {
    acceptDefinition(draft, input, context)
    if (draft.job.state !== draft.before) patchState(draft, { life: lifeOf(definition) })
  } else draft.keptDefinition = inForce
}

/** Nothing that the unreadable state has left in the store may appear in the new state. */
function startNewLife(draft: Decision): void {
  draft.job.unreadable = undefined
  draft.deletesHistory = true
  if (draft.keptDefinition === undefined) draft.keptDefinition = null
}
