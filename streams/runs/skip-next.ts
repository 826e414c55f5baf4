/** The next occurrence is left out by a command, before it is a run. */
import type { JobCommand } from '../../schemas/index.ts'
import { decidedTime, nextFire, nextFireAfterEnd } from '../schedules/index.ts'
import { type Context, type Decision, patchState, pristineState, refuseCommand, skip } from '../state/index.ts'
import { goOnWithBackfill } from './backfill.ts'
import { completeIfDone } from './completion.ts'

/** Skips the next occurrence, which the command names by its nominal time. The schedule goes on with the one after it. */
export function skipNext(draft: Decision, command: JobCommand, context: Context): void {
  const spec = draft.job.definition?.spec
  const state = draft.job.state ?? pristineState(draft.job)
  const nominal = state.nextFireAt
  const reason = spec === undefined ? 'invalid-definition' : nominal !== command.from ? 'not-the-next' : ''
  if (spec === undefined || nominal === null || reason !== '') return refuseCommand(draft, command, reason, context.now)
  const { everyMs, from } = spec.schedule
  // Without a run there is no end to count from.
  const isFromEnd = everyMs !== null && from === 'END'
  const nextFireAt = isFromEnd ? nextFireAfterEnd(spec, nominal) : nextFire(spec, state.anchorAt, nominal)
  patchState(draft, { nextFireAt, decidedFor: decidedTime(spec, nominal), waiting: false })
  skip(draft, 'command', 1, { at: context.now, scheduledFor: nominal })
  goOnWithBackfill(draft, context)
  completeIfDone(draft, context.now)
}
