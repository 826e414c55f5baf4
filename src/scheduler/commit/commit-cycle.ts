/**
 * One turn of an owned partition: take what is due and what was read, fold it, commit it, apply it.
 *
 * Crash points, in order, and what the next owner finds:
 *   before the commit is sent   nothing happened; inputs are read again from the logged position
 *   sent, not committed         the fence aborts the transaction; as above
 *   committed, not applied      the store is behind; the tail of the changelog repairs it
 *   applied                     done; the store's own record says so
 * The store is written only after the commit (invariant I3), in one batch with the record of where it stands.
 */
import type { Timer } from '../../../streams/state/index.ts'
import { trustedMs } from '../../clock/index.ts'
import { type InputRecord, inputRecordName, timerName } from '../input/index.ts'
import { applyBatch } from './apply-batch.ts'
import type { BatchResult } from './batch-result.ts'
import type { CommitContext } from './commit-context.ts'
import { count, measureDispatches } from './commit-metrics.ts'
import { checkpoint, commit, passed } from './transaction.ts'

/** Records of one commit; timers get at most their share while mail waits, so that a herd cannot hold deletions up. */
export const batchRecordsMax = 1_000
export const timerShare = 0.7
const batchBytesMax = 1024 * 1024
/**
 * Definitions say by themselves what follows from them, so they need no commit. Now and then one says how many were folded: what the
 * position covers a successor may read before it takes over.
 */
const unloggedDefinitionsMax = 10_000

/** What a turn did. `blocked`: the next mail needs a claim first. */
export interface CycleResult {
  appliedCount: number
  committed: boolean
  blocked: boolean
  deferred: BatchResult['deferred']
  awaiting: BatchResult['awaiting']
}

export interface CycleOptions {
  /** Hears of each timer before it is put into the store. Default: the time index does. */
  written?: (timer: Timer) => void
  /** Whether the turn is for one run alone that waits for a slot (failure-isolation.ts). Default: no. */
  isForWaiters?: boolean
  /** The turn's time is no earlier, whatever the clock says. Default: 0. */
  notBeforeMs?: number
}

export async function runCommitCycle(context: CommitContext, timers: Timer[], options: CycleOptions = {}): Promise<CycleResult> {
  const { written = (timer: Timer): void => context.index.written(timer), notBeforeMs = 0 } = options
  const { inputBuffer, shared, writer } = context
  const readMs = writer === undefined ? shared.clock.nowMs() : trustedMs(shared.clock)
  // Nothing is decided by a clock that is not trusted: timers wait as they were, and mail where it is.
  const asTheyWere = (timer: Timer): BatchResult['deferred'][number] => ({ timer, untilMs: notBeforeMs })
  if (readMs === undefined)
    return { appliedCount: 0, committed: false, blocked: false, awaiting: [], deferred: timers.map(asTheyWere) }
  const now = Math.max(readMs, notBeforeMs)
  const most = options.isForWaiters ? timers.length : context.failureIsolation.max
  const room = most < batchRecordsMax ? most - timers.length : Math.max(most - timers.length, Math.ceil(most * (1 - timerShare)))
  const inputRecordsFirst = inputBuffer.hasWaited
  const inputRecords = inputBuffer.take(room, batchBytesMax)
  if (timers.length + inputRecords.length === 0 && !context.admissionQueue.isPressing(now))
    return { appliedCount: 0, committed: false, blocked: false, deferred: [], awaiting: [] }
  const { names, codecs, leadMs, targets, metrics, logger } = shared
  const { partition, store, leases, workers, activeRuns, admissionQueue, heavyJobs, failureIsolation } = context
  const batchContext = {
    partition,
    partitions: shared.partitions,
    ...{ names, codecs, store, leases, workers, activeRuns, admissionQueue, heavyJobs, failureIsolation, leadMs },
    ...{ inputRecordsFirst, aheadFrom: context.changelogState.aheadUntil },
    eventsReadUntil: context.reports.readUntil,
    awaitingMax: context.reports.room,
    decidedBefore: context.changelogState.jobsOffset,
    isExact: context.isExact ?? false,
    zonesMayDiffer: context.zones?.mayDiffer ?? false,
    targets,
    metrics,
    logger,
  }
  // Until the fold has chosen, any of them may be what it fails with.
  let tried = [...timers.map(timerName), ...inputRecords.map(inputRecordName)]
  try {
    const batchResult = await applyBatch(batchContext, timers, inputRecords, now, writer !== undefined)
    tried = batchResult.names
    if (batchResult.inputRecordApplied < inputRecords.length)
      inputBuffer.putBack(inputRecords.slice(batchResult.inputRecordApplied))
    const committed = await persist(context, batchResult, inputRecords.slice(0, batchResult.inputRecordApplied), written)
    if (tried.length > 0) failureIsolation.succeeded(tried)
    count(shared, batchResult.notes)
    const { timersApplied, inputRecordApplied, waitersAsked, blocked, deferred, awaiting } = batchResult
    return { appliedCount: timersApplied + inputRecordApplied + waitersAsked, committed, blocked, deferred, awaiting }
  } catch (error) {
    failureIsolation.failed(tried, error)
    throw error
  }
}

async function persist(
  context: CommitContext,
  batchResult: BatchResult,
  inputRecords: InputRecord[],
  written: (timer: Timer) => void,
): Promise<boolean> {
  const { effects } = batchResult
  const { applied, store, shared } = context
  const applying = { ...applied }
  for (const inputRecord of inputRecords)
    applying[inputRecord.source] = Math.max(applying[inputRecord.source], inputRecord.offset + 1)
  const next = passed(context, applying)
  const { changelog, ops } = effects.finish(written, (waiter) => context.admissionQueue.written(waiter))
  if (effects.nonTransactionalWriter.length > 0) await context.nonTransactionalWriter.write(effects.nonTransactionalWriter)
  // A command that changed nothing must not be folded again when there is something for it to change.
  const changelogState =
    effects.changelogState ||
    inputRecords.some(({ source }) => source === 'commands') ||
    next.jobs - context.changelogState.jobsOffset >= unloggedDefinitionsMax
  const aheadUntil = Math.max(context.changelogState.aheadUntil, batchResult.aheadUntil)
  if (changelogState) {
    await commit(context, next, {
      ops,
      records: [...effects.out, ...changelog],
      targets: effects.targets,
      aheadUntil,
      inputRecords,
    })
    measureDispatches(shared, batchResult)
    return true
  }
  if (ops.length > 0 || inputRecords.length > 0) {
    ops.push(checkpoint(context, next))
    await store.apply(ops)
  }
  Object.assign(applied, next)
  return false
}
