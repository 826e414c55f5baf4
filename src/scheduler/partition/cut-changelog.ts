/**
 * Notices a job-state that is not the log that the local store was built from: it was truncated, or deleted and created again. If another owner
 * has continued in it, the log is the truth, and the store is rebuilt. Otherwise this store alone has what was decided behind its end. Nothing
 * can tell which of the two an operator wants, so the partition refuses until one has acted (ADR 0128).
 */
import type { Position } from '../../../schemas/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { rangeOf } from '../input/index.ts'
import type { Checkpoint } from '../state/index.ts'
import type { Assignment } from './assignment.ts'
import type { PartitionContext } from './partition-context.ts'

/** Time until the end of a log is known after a transaction has ended. */
const endKnownMs = 500
const checksMax = 4

/** Rejects with DuelogError `changelog-cut` if the log has not all that the store has read of it. */
export async function checkChangelog(assignment: Assignment, { changelog, stateOffset }: Checkpoint): Promise<void> {
  const { shared, partition } = assignment
  for (let check = 1; ; check++) {
    if (changelog === 'cut' || check > checksMax) throw cut(shared, partition, stateOffset)
    const { next } = await rangeOf(shared.admin, shared.names.state, partition)
    if (next >= stateOffset || (await isHeldBack(assignment, stateOffset))) return
    await assignment.rest(endKnownMs)
  }
}

/**
 * Whether the log is still as long as it was although readers do not get there. A commit is acknowledged before the end of its
 * transaction is in each log; after the loss of a broker that may take half a minute. The claim waits until then.
 */
async function isHeldBack({ shared, partition }: Assignment, stateOffset: number): Promise<boolean> {
  const ends = await shared.admin.highWatermarks?.(shared.names.state)
  return (ends?.get(partition) ?? 0) >= stateOffset
}

/**
 * Whether a position that was read proves that the log is not the one the store was built from: its claim is before what the
 * store has read, and is not the claim that the store knows there.
 */
export const isOfReplacedChangelog = (position: Position, known: { stateOffset: number; claimedAt: number }): boolean =>
  position.claimOffset < known.stateOffset && position.claimedAt > 0 && position.claimedAt !== known.claimedAt

/** Lets the store remember it, in case the log grows past what it has read. Resolves with the error to throw. */
export async function leaveLog(
  context: PartitionContext,
  changelog: NonNullable<Checkpoint['changelog']>,
  readTo: number,
): Promise<DuelogError> {
  const { shared, partition, local, savedAtMs } = context
  const { names } = shared
  await local.store.apply([local.checkpoint({ jobs: context.input.positions.applied.jobs, state: readTo }, savedAtMs, changelog)])
  if (changelog === 'cut') return cut(shared, partition, readTo)
  const message = `${names.state}/${partition} was truncated, or deleted and created again, and another owner has continued in it. The local store, which had read up to ${readTo}, is rebuilt.`
  return new DuelogError('log-shrunk', message)
}

function cut({ names, prefix }: Assignment['shared'], partition: number, readTo: number): DuelogError {
  return new DuelogError(
    'changelog-cut',
    `${names.state}/${partition} has lost records before ${readTo}, which the local store has read: it was truncated, or deleted and created again. This partition decides nothing until you restore a backup (stop all schedulers; duelog restore FILE --topic-prefix NEW; duelog carry --from ${prefix} --topic-prefix NEW; start with that prefix and empty data folders), or, without one, stop all schedulers, delete scheduler/partition-${partition} in the data folder of each, and start them: what the log has lost is then decided again.`,
  )
}
