/**
 * One commit cycle of an owned partition: take due timers and input records, apply them to jobs, commit, then write the store.
 *
 * Crash points, in order, and what the next owner finds:
 *   before the commit is sent   nothing happened; inputs are read again from the committed position
 *   sent, not committed         the fence aborts the transaction; as above
 *   committed, not applied      the store is behind; the tail of the changelog repairs it
 *   applied                     done; the checkpoint of the store says so
 * The store is written only after the commit (invariant I3), in one batch with its checkpoint.
 */
import type { Timer } from '../../../streams/state/index.ts'
import { trustedMs } from '../../clock/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type InputRecord, inputRecordName, timerName } from '../input/index.ts'
import { applyBatch } from './apply-batch.ts'
import type { BatchResult } from './batch-result.ts'
import { type Slice, sliceJobs } from './bulk-changes.ts'
import type { CommitContext } from './commit-context.ts'
import { count, measureDispatches } from './commit-metrics.ts'
import { checkpoint, commit } from './transaction.ts'

/**
 * Maximum inputs of one commit. While input records wait, timers get at most their share, so that a burst cannot delay
 * deletions.
 */
export const batchRecordsMax = 1_000
export const timerShare = 0.7
const batchBytesMax = 1024 * 1024
/**
 * The consequences of a definition follow from its record, so it needs no commit. After this many definitions the position is
 * logged anyway: a successor may read what it covers before it takes over.
 */
const unloggedDefinitionsMax = 10_000

/** Result of a commit cycle. `blocked`: the next input record needs a claim first. */
export interface CycleResult {
  appliedCount: number
  committed: boolean
  blocked: boolean
  deferred: BatchResult['deferred']
  awaiting: BatchResult['awaiting']
}

export interface CycleOptions {
  /** Called for each timer before it is stored. Default: the time index. */
  onTimerScheduled?: (timer: Timer) => void
  /** Whether the cycle is for a single run that waits for a slot (failure-isolation.ts). Default: false. */
  isForWaiters?: boolean
  /** Whether jobs that it defines and that are due fire in it. Default: false, as before a partition is active nothing fires. */
  firesDefined?: boolean
  /** Whether the next jobs of a change of many go with it. Default: false. */
  takesBulk?: boolean
}

export async function runCommitCycle(context: CommitContext, timers: Timer[], options: CycleOptions = {}): Promise<CycleResult> {
  const { onTimerScheduled = (timer: Timer): void => context.index.scheduled(timer) } = options
  const { inputBuffer, shared, writer, savedAtMs } = context
  // The clock may have been set back since the timers were taken: each rule puts a timer off whose time has not come.
  const now = writer === undefined ? shared.clock.nowMs() : trustedMs(shared.clock)
  // A clock that is not trusted decides nothing: timers and input records wait as they are.
  const deferUnchanged = (timer: Timer): BatchResult['deferred'][number] => ({ timer, untilMs: 0 })
  if (now === undefined)
    return { appliedCount: 0, committed: false, blocked: false, awaiting: [], deferred: timers.map(deferUnchanged) }
  const batchMax = options.isForWaiters ? timers.length : context.failureIsolation.max
  const room =
    batchMax < batchRecordsMax
      ? batchMax - timers.length
      : Math.max(batchMax - timers.length, Math.ceil(batchMax * (1 - timerShare)))
  const inputRecordsFirst = inputBuffer.hasWaited
  const inputRecords = inputBuffer.take(room, batchBytesMax)
  const slice = options.takesBulk ? await nextSlice(context, batchMax, timers.length, inputRecords.length) : undefined
  if (timers.length + inputRecords.length === 0 && slice === undefined && !context.admissionQueue.isPressing(now))
    return { appliedCount: 0, committed: false, blocked: false, deferred: [], awaiting: [] }
  const { failureIsolation } = context
  // Until the batch is chosen, any of them may be the one that fails.
  const { call, ids = [] } = slice ?? {}
  const bulkNames = call === undefined ? [] : ids.map((id) => call.nameOf(id))
  let tried = [...timers.map(timerName), ...inputRecords.map(inputRecordName), ...bulkNames]
  try {
    const { firesDefined = false } = options
    const mayLog = writer !== undefined
    const batchResult = await applyBatch(context, timers, inputRecords, { now, inputRecordsFirst, mayLog, firesDefined, slice })
    tried = batchResult.names
    if (batchResult.inputRecordsApplied < inputRecords.length)
      inputBuffer.putBack(inputRecords.slice(batchResult.inputRecordsApplied))
    const committing = persist(context, batchResult, {
      inputRecords: inputRecords.slice(0, batchResult.inputRecordsApplied),
      onTimerScheduled,
      savedAtMs,
    })
    const { spans } = batchResult.effects
    const committed = await committing.catch((error: unknown) => {
      spans.ended(error instanceof DuelogError ? error.code : 'internal')
      throw error
    })
    spans.ended()
    if (tried.length > 0) failureIsolation.succeeded(tried)
    count(shared, batchResult.notes)
    const { timersHandled, inputRecordsApplied, waitersTried, blocked, deferred, awaiting, bulkLooked, bulk } = batchResult
    for (const { change, jobId } of batchResult.ahead) change.changedAhead(jobId)
    if (slice !== undefined) context.bulk.committed(slice, bulkLooked, bulk)
    const appliedCount = timersHandled + inputRecordsApplied + waitersTried + bulkLooked
    return { appliedCount, committed, blocked, deferred, awaiting }
  } catch (error) {
    failureIsolation.failed(tried, error)
    throw error
  }
}

/** While failure isolation searches for the failing input, each job counts as an input like a timer. */
function nextSlice(
  { bulk, store }: CommitContext,
  batchMax: number,
  timers: number,
  inputRecords: number,
): Promise<Slice | undefined> {
  const jobs = timers === 0 ? sliceJobs.alone : sliceJobs.besideTimers
  return bulk.slice(store, batchMax < batchRecordsMax ? Math.min(jobs, batchMax - timers - inputRecords) : jobs)
}

interface Applied {
  inputRecords: InputRecord[]
  onTimerScheduled: (timer: Timer) => void
  savedAtMs: number
}

/** Resolves with whether it committed. */
async function persist(
  context: CommitContext,
  batchResult: BatchResult,
  { inputRecords, onTimerScheduled, savedAtMs }: Applied,
): Promise<boolean> {
  const { effects } = batchResult
  const { positions, store, shared } = context
  const applying = { ...positions.applied }
  for (const inputRecord of inputRecords)
    applying[inputRecord.source] = Math.max(applying[inputRecord.source], inputRecord.offset + 1)
  const next = positions.passed(applying)
  const { changelog, ops } = effects.finish(onTimerScheduled, (waiter) => context.admissionQueue.queued(waiter))
  if (effects.nonTransactionalRecords.length > 0)
    await context.resources.nonTransactionalWriter.write(effects.nonTransactionalRecords)
  // A command that changed nothing must not be applied again later, when it could change something.
  const logged =
    effects.logged ||
    inputRecords.some(({ source }) => source === 'commands') ||
    next.jobs - positions.logged.jobsOffset >= unloggedDefinitionsMax
  const aheadUntil = Math.max(positions.logged.aheadUntil, batchResult.aheadUntil)
  if (logged) {
    await commit(context, next, {
      ops,
      records: [...effects.out, ...changelog],
      targets: effects.targets,
      aheadUntil,
      inputRecords,
      savedAtMs,
    })
    context.jobWaits.changed(effects.changedIds)
    measureDispatches(shared, batchResult)
    context.activeRuns.lateness.add(batchResult.startedLateMs, shared.clock.nowMs())
    return true
  }
  if (ops.length > 0 || inputRecords.length > 0) {
    ops.push(checkpoint(context, next, savedAtMs))
    await store.apply(ops)
  }
  context.jobWaits.changed(effects.changedIds)
  positions.appliedTo(next)
  return false
}
