/** How many attempts of a run started. The number of an attempt also counts those that did not: it is a fencing token. */
import type { ActiveRun, FinishedRun } from '../../schemas/index.ts'

/** Of an active run: its current attempt has not started unless it is RUNNING. An owner of an earlier version does not send the others. */
export const startedAttempts = ({
  attempt,
  status,
  unstartedAttempts = 0,
}: Pick<ActiveRun, 'attempt' | 'status'> & { unstartedAttempts?: number }): number =>
  attempt - unstartedAttempts - (status === 'RUNNING' ? 0 : 1)

/** Of an ended run. */
export const startedAttemptsOf = ({
  attempts,
  unstartedAttempts = 0,
}: Pick<FinishedRun, 'attempts'> & { unstartedAttempts?: number }): number => attempts - unstartedAttempts

/** Those of a run that ends so: an attempt that expired or was cancelled may not have started. */
export const unstartedAtEnd = (
  { unstartedAttempts, startedAt }: Pick<ActiveRun, 'unstartedAttempts' | 'startedAt'>,
  status: FinishedRun['status'],
): number => unstartedAttempts + ((status === 'EXPIRED' || status === 'CANCELLED') && startedAt === null ? 1 : 0)
