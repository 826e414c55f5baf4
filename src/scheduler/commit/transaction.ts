/**
 * The end of a commit cycle: one transaction with the position as its last record, and only then the store (invariants I2 and
 * I3).
 */
import type { Position } from '../../../schemas/index.ts'
import type { RecordOut, StoreOp } from '../../ports/index.ts'
import { type AppliedOffsets, commandsRead, firstOffset, type InputRecord, shrunk } from '../input/index.ts'
import { type ChangelogState, checkpointOp, positionKey } from '../state/index.ts'
import type { CommitContext } from './commit-context.ts'

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
  const { positions, store, shared, partition } = context
  const { ops, records, targets, aheadUntil, inputRecords, savedAtMs } = outcome
  const position = positionOf(context, next, { ...commandsRead(positions, shared.clock, inputRecords), aheadUntil })
  const value = shared.codecs.state.encode({ position })
  const record = { topic: shared.names.state, partition, key: positionKey, value }
  const { first, count } = await send(context, [...records, record], targets)
  // The decisions are in the other log. The store keeps them too and records that it cannot be continued.
  const readTo = positions.applied.state
  const isOther = first < readTo
  next.state = isOther ? readTo : first + count
  const local = checkpoint(context, next, savedAtMs, isOther || context.isOfReplacedChangelog)
  await store.apply([...ops, { key: positionKey, value }, local])
  const { jobsOffset, commandsOffset, eventsOffset, claimedAt, committedAt, commandsUntil, commandsAnewTo } = position
  const offsets = { jobsOffset, commandsOffset, eventsOffset }
  positions.committed(next, { ...offsets, aheadUntil, claimedAt, committedAt, commandsUntil, commandsAnewTo })
  if (isOther) throw shrunk(shared.names.state, partition, first, readTo)
}

const none: ReadonlySet<string> = new Set()

/** Logs the position of jobs if the changelog does not have it; `evenIfKnown`: always. */
export async function logPosition(context: CommitContext, evenIfKnown = false): Promise<void> {
  const { positions, savedAtMs } = context
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
  return context.store.apply([checkpoint(context, context.positions.applied, context.savedAtMs)])
}

export function checkpoint(
  context: CommitContext,
  next: Readonly<AppliedOffsets>,
  savedAtMs: number,
  isOfReplacedChangelog = context.isOfReplacedChangelog,
): StoreOp {
  const { shared, claimOffset, zones } = context
  const offsets = { jobsOffset: next.jobs, stateOffset: next.state, claimOffset }
  const local = { clusterId: shared.clusterId, prefix: shared.prefix, ...offsets, savedAtMs, zoneRules: zones?.store ?? '' }
  return checkpointOp(isOfReplacedChangelog ? { ...local, otherLog: 'ours' } : local)
}

/**
 * The inputs that are part of the state before it. A new owner may commit while it still reads definitions that are decided: they
 * stay decided.
 */
function positionOf(context: CommitContext, next: Readonly<AppliedOffsets>, more: Partial<ChangelogState>): Position {
  const { shared, claimOffset, positions } = context
  const { logged } = positions
  return {
    claimOffset,
    ...{ ...logged, ...more },
    ...{ jobsOffset: Math.max(next.jobs, logged.jobsOffset), commandsOffset: next.commands, eventsOffset: next.events },
    committedAt: Math.max(shared.clock.nowMs(), logged.committedAt + 1),
    zoneRules: context.zones?.logged ?? '',
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
