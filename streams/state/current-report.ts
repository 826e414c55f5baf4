/** Which reports count: those of the attempt that a run has in its state. */
import type { ActiveRun, ExecutionEvent } from '../../schemas/index.ts'

/** A waiting run was not dispatched, so no worker can report it. A retry waits for the report of the retrier, and for no other. */
export const isCurrentReport = (run: ActiveRun, event: ExecutionEvent): boolean =>
  run.runNo === event.runNo &&
  run.attempt === event.attempt &&
  run.specOffset === event.specOffset &&
  run.status !== 'WAITING' &&
  (run.status === 'RETRY_WAIT') === (event.type === 'RETRY_DUE')
