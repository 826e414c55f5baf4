/**
 * Entries of the store that follow from the state of a job: timers, queue entries and index keys. A restore puts them without
 * reading anything, so it runs at the speed of the log.
 */
import type { JobState } from '../../../schemas/index.ts'
import {
  emptyValue,
  isSameWaiter,
  jobIdOfKey,
  prefix,
  stateIndexKeys,
  stateTimers,
  timerKey,
  type Waiter,
  waiterKey,
  waitersOf,
} from '../../../streams/state/index.ts'
import type { RecordIn, StoreOp } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { loggedState } from './stored-entry.ts'

/**
 * Operations that apply a slice of job-state. Timers, queue entries and index keys of an earlier state are not removed. They no longer
 * follow from the state, so they are dropped when they are reached.
 */
export async function changelogOps(codecs: SchedulerCodecs, records: RecordIn[]): Promise<StoreOp[]> {
  const ops: StoreOp[] = []
  for (const { key, value } of records) {
    if (key === null) continue
    ops.push({ key, value })
    if (key[0] !== prefix.state) continue
    const jobId = jobIdOfKey(key)
    if (value === null) continue
    const state = await loggedState(codecs, jobId, value)
    if (state === undefined) continue
    for (const timer of stateTimers(jobId, state)) ops.push({ key: timerKey(timer), value: emptyValue })
    for (const waiter of waitersOf(jobId, state)) ops.push({ key: waiterKey(waiter), value: emptyValue })
    for (const index of stateIndexKeys(jobId, state)) ops.push({ key: index, value: emptyValue })
  }
  return ops
}

/** Queue entries of the runs of a job: the difference between two states. `onQueued` is called with each entry that is added. */
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
