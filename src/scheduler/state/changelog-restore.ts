/** Restore of the store from the changelog. Each record is put as it is; timers, queue entries and index keys are derived from the state. It reads nothing, so it runs at the speed of the log. */
import {
  emptyValue,
  jobIdOfKey,
  prefix,
  stateIndexKeys,
  stateTimers,
  timerKey,
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
