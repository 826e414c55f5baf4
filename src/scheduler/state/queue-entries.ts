/** Queue entries of a job's runs. They follow from its state, so the difference between two states is written. */
import type { JobState } from '../../../schemas/index.ts'
import { emptyValue, isSameWaiter, type Waiter, waiterKey, waitersOf } from '../../../streams/state/index.ts'
import type { StoreOp } from '../../ports/index.ts'

/** `onQueued` is called with each entry that is added. */
export function queueEntryOps(
  jobId: string,
  before: JobState | undefined,
  after: JobState | undefined,
  onQueued: (waiter: Waiter) => void,
): StoreOp[] {
  if (before === after) return []
  const [gone, there] = [waitersOf(jobId, before), waitersOf(jobId, after)]
  const ops: StoreOp[] = []
  for (const waiter of gone) {
    if (!there.some((other) => isSameWaiter(waiter, other))) ops.push({ key: waiterKey(waiter), value: null })
  }
  for (const waiter of there) {
    if (gone.some((other) => isSameWaiter(waiter, other))) continue
    onQueued(waiter)
    ops.push({ key: waiterKey(waiter), value: emptyValue })
  }
  return ops
}
