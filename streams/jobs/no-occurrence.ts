/** Valid definitions that never have an occurrence from their anchor. */
import { noOccurrenceProblem } from '../definitions/index.ts'
import { type Decision, type KnownDefinition, patchState } from '../state/index.ts'

/** Whether the definition can never have an occurrence from its anchor. The job is then INVALID with a reason, and not silently COMPLETED. */
export function invalidateWithoutOccurrence(draft: Decision, { spec }: KnownDefinition): boolean {
  const { state } = draft.job
  if (spec === undefined || state === undefined || state.nextFireAt !== null) return false
  const reason = noOccurrenceProblem(spec, state.anchorAt)?.message
  if (reason === undefined) return false
  draft.notes.push({ kind: 'invalid', reason })
  patchState(draft, { status: 'INVALID', reason })
  return true
}
