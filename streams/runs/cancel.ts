/** A run that is to end before it has ended by itself. */
import type { ActiveRun } from '../../schemas/index.ts'
import type { Context, Decision } from '../state/index.ts'
import { finishRun } from './finish.ts'

/** Ends the run now. What its worker still says of it is stale; the worker is told, so that it stops. */
export function cancelRun(draft: Decision, run: ActiveRun, reason: string, context: Context): void {
  tellOfCancel(draft, run, reason)
  finishRun(draft, run, { status: 'CANCELLED', finishedAt: context.now, reason }, context)
}

/** Tells the workers that the attempt shall not run, or not go on. Of what was not dispatched no worker knows. */
export function tellOfCancel(draft: Decision, { runNo, attempt, specOffset, status }: ActiveRun, reason: string): void {
  if (status !== 'RETRY_WAIT' && status !== 'WAITING') draft.out.push({ kind: 'cancel', runNo, attempt, specOffset, reason })
}
