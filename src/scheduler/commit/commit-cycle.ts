/**
 * One commit cycle of an owned partition: take due timers and input records, apply them to jobs, commit, then write the store.
 *
 * Crash points, in order, and what the next owner finds:
 *   before the commit is sent   nothing happened; inputs are read again from the committed position
 *   sent, not committed         the fence aborts the transaction; as above
 *   committed, not applied      the store is behind; the tail of the changelog repairs it
 *   applied                     done; the checkpoint of the store says so
 * A commit is one transaction with the position as its last record (invariant I2). The store is written only after it (invariant I3), in one
 * batch with its checkpoint.
 */

import type { Position } from '../../../schemas/index.ts'
import type { Timer } from '../../../streams/state/index.ts'
import { trustedMs } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { RecordOut, StoreOp } from '../../ground/ports/index.ts'
import { type AppliedOffsets, commandsRead, firstOffset, type InputRecord, type Named, shrunk } from '../input/index.ts'
import { type ChangelogState, positionKey } from '../state/index.ts'
import { applyBatch } from './apply-batch.ts'
import { type BatchResult, count, measureDispatches } from './batch-result.ts'
import type { CommitContext } from './commit-context.ts'
import type { CycleRoom, HookedCycle } from './hooks.ts'

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
  /** Whether hooks may add jobs of their own. Default: false. */
  takesHookedJobs?: boolean
}

export async function runCommitCycle(context: CommitContext, timers: Timer[], options: CycleOptions = {}): Promise<CycleResult> {
  const { onTimerScheduled = (timer: Timer): void => context.local.index.scheduled(timer) } = options
  const { shared, writer, savedAtMs } = context
  const { buffer: inputBuffer } = context.input
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
  const hooked: HookedCycle[] = []
  for (const hook of writer === undefined ? [] : context.hooks) {
    const begun = hook.begin?.(roomFor(context, options.takesHookedJobs === true, timers.length, inputRecords.length))
    if (begun !== undefined) hooked.push(begun instanceof Promise ? await begun : begun)
  }
  const isEmpty = timers.length + inputRecords.length === 0 && hooked.every(({ ids }) => ids.length === 0)
  if (isEmpty && !context.admissionQueue.isPressing(now))
    return { appliedCount: 0, committed: false, blocked: false, deferred: [], awaiting: [] }
  const { failureIsolation } = context
  // Until the batch is chosen, any of them may be the one that fails.
  const hookedNames = hooked.flatMap((one) => one.ids.map((id) => one.nameOf(id)))
  let tried: Named[] = [...timers, ...inputRecords, ...hookedNames]
  try {
    const { firesDefined = false } = options
    const mayLog = writer !== undefined
    const batchResult = await applyBatch(context, timers, inputRecords, { now, inputRecordsFirst, mayLog, firesDefined, hooked })
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
    const { timersHandled, inputRecordsApplied, waitersTried, blocked, deferred, awaiting, hookedJobs } = batchResult
    for (const one of hooked) one.committed()
    const appliedCount = timersHandled + inputRecordsApplied + waitersTried + hookedJobs
    return { appliedCount, committed, blocked, deferred, awaiting }
  } catch (error) {
    failureIsolation.failed(tried, error)
    throw error
  }
}

/** While failure isolation searches for the failing input, each job counts as an input like a timer. */
const roomFor = (
  { failureIsolation, local: { store } }: CommitContext,
  takesJobs: boolean,
  timers: number,
  inputRecords: number,
): CycleRoom => ({
  store,
  jobsMax: (alone, besideTimers) =>
    takesJobs ? failureIsolation.fitting(timers === 0 ? alone : besideTimers, timers + inputRecords) : 0,
})

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
  const {
    input: { positions },
    shared,
    local: { store },
  } = context
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
    effects.stored(context.local.activeJobs, shared.clock.nowMs())
    context.activity.jobWaits.changed(effects.changedIds)
    measureDispatches(shared, batchResult)
    context.activity.activeRuns.lateness.add(batchResult.startedLateMs, shared.clock.nowMs())
    return true
  }
  if (ops.length > 0 || inputRecords.length > 0) {
    ops.push(context.local.checkpoint(next, savedAtMs))
    await store.apply(ops)
  }
  effects.stored(context.local.activeJobs, shared.clock.nowMs())
  context.activity.jobWaits.changed(effects.changedIds)
  positions.appliedTo(next)
  return false
}

/**
 * Effects of a cycle. `ops`: for the store, after the commit. `targets`: topics of users that receive records. `savedAtMs`: that
 * of the context when the cycle began, because the store has read its logs up to then.
 */
interface Outcome {
  ops: StoreOp[]
  records: RecordOut[]
  targets: ReadonlySet<string>
  aheadUntil: number
  inputRecords: readonly InputRecord[]
  savedAtMs: number
}

/**
 * Commits, applies, and updates the offsets of the context. `next`: the inputs that are included. Throws DuelogError
 * `log-shrunk`, after all of that, if the answer shows that the changelog is not the one that was read.
 */
export async function commit(context: CommitContext, next: AppliedOffsets, outcome: Outcome): Promise<void> {
  const {
    input: { positions },
    shared,
    partition,
    local: { store },
  } = context
  const { ops, records, targets, aheadUntil, inputRecords, savedAtMs } = outcome
  const position = positionOf(context, next, { ...commandsRead(positions, shared.clock, inputRecords), aheadUntil })
  const value = shared.codecs.state.encode({ position })
  const record = { topic: shared.names.state, partition, key: positionKey, value }
  const { first, count } = await send(context, [...records, record], targets)
  // The decisions are in the other log. The store keeps them too and records that it cannot be continued.
  const readTo = positions.applied.state
  const isOther = first < readTo
  next.state = isOther ? readTo : first + count
  const local = context.local.checkpoint(next, savedAtMs, isOther ? 'cut' : undefined)
  await store.apply([...ops, { key: positionKey, value }, local])
  const { jobsOffset, commandsOffset, eventsOffset, claimedAt, committedAt, commandsUntil, commandsAnewTo } = position
  const offsets = { jobsOffset, commandsOffset, eventsOffset }
  positions.committed(next, { ...offsets, aheadUntil, claimedAt, committedAt, commandsUntil, commandsAnewTo })
  if (isOther) throw shrunk(shared.names.state, partition, first, readTo)
}

const none: ReadonlySet<string> = new Set()

/** Logs the position of jobs if the changelog does not have it; `evenIfKnown`: always. */
export async function logPosition(context: CommitContext, evenIfKnown = false): Promise<void> {
  const { savedAtMs } = context
  const { positions } = context.input
  const { applied, logged } = positions
  if (applied.jobs <= logged.jobsOffset && !evenIfKnown) return
  await commit(context, positions.passed(applied), {
    ops: [],
    records: [],
    targets: none,
    aheadUntil: logged.aheadUntil,
    inputRecords: [],
    savedAtMs,
  })
}

/** Writes the checkpoint of the store again. */
export function saveCheckpoint(context: CommitContext): Promise<void> {
  return context.local.store.apply([context.local.checkpoint(context.input.positions.applied, context.savedAtMs)])
}

/**
 * The inputs that are part of the state before it. A new owner may commit while it still reads definitions that are decided: they
 * stay decided.
 */
function positionOf(context: CommitContext, next: Readonly<AppliedOffsets>, more: Partial<ChangelogState>): Position {
  const {
    shared,
    input: {
      positions: { logged },
    },
    local: { claimOffset },
  } = context
  return {
    claimOffset,
    ...{ ...logged, ...more },
    ...{ jobsOffset: Math.max(next.jobs, logged.jobsOffset), commandsOffset: next.commands, eventsOffset: next.events },
    committedAt: Math.max(shared.clock.nowMs(), logged.committedAt + 1),
    zoneRules: context.local.zones?.logged ?? '',
  }
}

/** Resolves with the offset of the first record in the changelog and the number of records. */
async function send(
  context: CommitContext,
  records: RecordOut[],
  targets: ReadonlySet<string>,
): Promise<{ first: number; count: number }> {
  const { writer, shared, partition, resources } = context
  if (writer === undefined) throw new Error(`Partition ${partition} has something to log before it is claimed.`)
  const count = records.filter((record) => record.topic === shared.names.state).length
  const committing = resources.commits.run(async () => {
    const startedAt = performance.now()
    const offsets = await writer.commit(records)
    shared.metrics.commit.observe((performance.now() - startedAt) / 1_000)
    shared.metrics.commitBatch.observe(records.length)
    return { first: firstOffset(offsets, shared.names.state, partition), count }
  })
  return committing.catch(async (error) => {
    // A topic of a user may be the cause: it is checked before the next attempt and left out if so.
    if (targets.size > 0) await shared.targets?.failed(targets, error)
    throw error
  })
}
