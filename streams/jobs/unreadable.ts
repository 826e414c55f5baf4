/**
 * A job of which the store holds a state that cannot be read. It is INVALID until it is defined anew or deleted, and its neighbours go on.
 * Until then nothing is decided about it, so the bytes stay as they are in the log: where only their schema was missing the job goes on
 * as it was as soon as that is there.
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
import { acceptDefinition, acceptDeletion } from './accept.ts'

/** Longest that is told of what the decoder says. */
const problemCharsMax = 200

/** What stands for a state that cannot be read. Its runs have a life of their own: their numbers begin anew. */
export function unreadableState(job: Job, problem: string): JobState {
  const reason = `What was decided about the job cannot be read (${problem.slice(0, problemCharsMax).toWellFormed()}); define it anew, or delete it.`
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
  if (input.kind === 'deletion') acceptDeletion(draft, input)
  if (draft.job.state !== job.state) begunAnew(draft)
  return draft
}

function define(draft: Decision, input: Extract<Input, { kind: 'definition' }>, context: Context): void {
  const { definition } = input
  const inForce = draft.job.definition
  if (inForce !== undefined && definition.offset <= inForce.offset) return
  if (input.decided) draft.job.definition = definition
  // A precondition holds or not; which version or duplicate would be dropped matters less than that the job can be mended.
  else if (holds(input.onlyOver, inForce)) {
    acceptDefinition(draft, input, context)
    if (draft.job.state !== draft.before) patchState(draft, { life: lifeOf(definition) })
  }
}

/** What the state before has left in the store must not show in this one. */
function begunAnew(draft: Decision): void {
  draft.job.unreadable = undefined
  draft.dropRing = true
  if (draft.keptDefinition === undefined) draft.keptDefinition = null
}
