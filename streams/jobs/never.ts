/** A definition that is sound by itself, and of which nothing ever comes from where it happens to begin. */
import { neverProblem } from '../definitions/index.ts'
import { type Decision, type KnownDefinition, patchState } from '../state/index.ts'

/** Whether the definition can never come true from where it begins; the job is INVALID then, and does not end without a word. */
export function isNever(draft: Decision, { spec }: KnownDefinition): boolean {
  const { state } = draft.job
  if (spec === undefined || state === undefined || state.nextFireAt !== null) return false
  const reason = neverProblem(spec, state.anchorAt)?.message
  if (reason === undefined) return false
  draft.notes.push({ kind: 'invalid', reason })
  patchState(draft, { status: 'INVALID', reason })
  return true
}
