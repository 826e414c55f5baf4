/** What was decided against: why something did not fire, or not then. Kept in the state, so that an operator can ask. */
import type { JobState, RefusalInput } from '../schemas/generated.ts'
import { patchState, pristineState } from './draft.ts'
import type { Decision, SkipReason } from './job.ts'

/** Refusals that a job remembers. */
const refusalsKept = 12

/** Notes a refusal; one after another for the same reason are counted together. */
export function refuse(draft: Decision, refusal: RefusalInput): void {
  const { decisions } = draft.job.state ?? pristineState(draft.job)
  patchState(draft, { decisions: noted(decisions, refusal) })
}

function noted(before: JobState['decisions'], refusal: RefusalInput): JobState['decisions'] {
  const { at, what, reason, scheduledFor = null, runNo = null, count = 1 } = refusal
  const last = before.at(-1)
  if (last !== undefined && last.what === what && last.reason === reason && last.runNo === null && runNo === null) {
    return [...before.slice(0, -1), { ...last, at, count: last.count + count }]
  }
  return [...before, { at, what, reason, scheduledFor, runNo, count }].slice(-refusalsKept)
}

/** Occurrences that do not run, counted. */
export function skip(
  draft: Decision,
  reason: SkipReason,
  count: number,
  { at, scheduledFor }: { at: number; scheduledFor: number },
): void {
  const state = draft.job.state ?? pristineState(draft.job)
  patchState(draft, { skipped: state.skipped + count, reason: `skipped: ${reason}` })
  refuse(draft, { at, what: 'SKIPPED', reason, scheduledFor, count })
  draft.notes.push({ kind: 'skipped', reason, count })
}
