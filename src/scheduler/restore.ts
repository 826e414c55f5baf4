/** From the changelog to the store: each record is put as it is; timers, queue entries and index keys are derived from the state. Reads nothing, so it runs at the speed of the log. */
import { stateIndexKeys } from '../../streams/job-index.ts'
import { jobIdOfKey, prefix, timerKey, waiterKey } from '../../streams/keys.ts'
import { waitersOf } from '../../streams/limits/slots.ts'
import { stateTimers } from '../../streams/timers.ts'
import type { RecordIn } from '../ports.ts'
import type { SchedulerCodecs } from './codecs.ts'
import type { StoreOp } from './ports.ts'
import { loggedState } from './stored-entry.ts'

const none = Buffer.alloc(0)

/**
 * Operations that apply a slice of job-state. Timers, queue entries and index keys that an earlier state had put are not removed: they
 * no longer follow from the state and are dropped when popped, or when it is their turn, or passed over when found.
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
    for (const timer of stateTimers(jobId, state)) ops.push({ key: timerKey(timer), value: none })
    for (const waiter of waitersOf(jobId, state)) ops.push({ key: waiterKey(waiter), value: none })
    for (const index of stateIndexKeys(jobId, state)) ops.push({ key: index, value: none })
  }
  return ops
}
