/** The end of a turn: one transaction with the position as its last record, and only then the store (invariants I2 and I3). */
import type { Position } from '../../../schemas/index.ts'
import type { RecordOut, StoreOp } from '../../ports/index.ts'
import { commandsRead, firstOffset, type InputRecord, shrunk } from '../input/index.ts'
import { type ChangelogState, checkpointOp, positionKey } from '../state/index.ts'
import type { CommitContext } from './commit-context.ts'

/** What a turn brings. `ops`: for the store, once it is committed. `targets`: topics of the user's that something goes to. */
interface Outcome {
  ops: StoreOp[]
  records: RecordOut[]
  targets: ReadonlySet<string>
  aheadUntil: number
  inputRecords: readonly InputRecord[]
}

/**
 * Commits, applies, and notes in the context where all of it stands now; `next`: which inputs are part of it. Throws DuelogError
 * `log-shrunk`, once all of that is done, when the answer shows that the changelog is not the one that was read.
 */
export async function commit(context: CommitContext, next: CommitContext['applied'], outcome: Outcome): Promise<void> {
  const { applied, store, shared, partition } = context
  const { ops, records, targets, aheadUntil, inputRecords } = outcome
  const position = positionOf(context, next, { ...commandsRead(context, inputRecords), aheadUntil })
  const value = shared.codecs.state.encode({ position })
  const record = { topic: shared.names.state, partition, key: positionKey, value }
  const { first, count } = await send(context, [...records, record], targets)
  // What was decided is in the other log; the store keeps it too, and says that it goes on nowhere.
  const isOther = first < applied.state
  next.state = isOther ? applied.state : first + count
  const local = checkpoint(isOther ? { ...context, isOfReplacedChangelog: true } : context, next)
  await store.apply([...ops, { key: positionKey, value }, local])
  Object.assign(applied, next)
  const { jobsOffset, commandsOffset, eventsOffset, claimedAt, committedAt, commandsUntil, commandsAnewTo } = position
  const offsets = { jobsOffset, commandsOffset, eventsOffset }
  Object.assign(context.changelogState, { ...offsets, aheadUntil, claimedAt, committedAt, commandsUntil, commandsAnewTo })
  if (isOther) throw shrunk(shared.names.state, partition, first, applied.state)
}

const none: ReadonlySet<string> = new Set()

/** Logs how far jobs is folded, if the changelog does not say so yet; `evenIfKnown`: in any case. */
export async function logPosition(context: CommitContext, evenIfKnown = false): Promise<void> {
  const { applied, changelogState } = context
  if (applied.jobs <= changelogState.jobsOffset && !evenIfKnown) return
  await commit(context, passed(context, { ...applied }), {
    ops: [],
    records: [],
    targets: none,
    aheadUntil: changelogState.aheadUntil,
    inputRecords: [],
  })
}

/** What is shown to nobody, such as the ends of transactions, is done with what stands before it: it may expire without a loss. */
export function passed({ doneTo }: CommitContext, next: CommitContext['applied']): CommitContext['applied'] {
  if (doneTo === undefined) return next
  return { ...next, commands: doneTo('commands', next.commands), events: doneTo('events', next.events) }
}

/** Says once more where the store stands. */
export function saveCheckpoint(context: CommitContext): Promise<void> {
  return context.store.apply([checkpoint(context, context.applied)])
}

export function checkpoint(context: CommitContext, next: CommitContext['applied']): StoreOp {
  const { shared, claimOffset, savedAtMs, zones, isOfReplacedChangelog } = context
  const offsets = { jobsOffset: next.jobs, stateOffset: next.state, claimOffset }
  const local = { clusterId: shared.clusterId, ...offsets, savedAtMs, zoneRules: zones?.store ?? '' }
  return checkpointOp(isOfReplacedChangelog ? { ...local, otherLog: 'ours' } : local)
}

/** Which inputs are part of the state that precedes it. */
function positionOf(context: CommitContext, next: CommitContext['applied'], more: Partial<ChangelogState>): Position {
  const { shared, claimOffset, changelogState } = context
  return {
    claimOffset,
    ...{ ...changelogState, ...more },
    ...{ jobsOffset: next.jobs, commandsOffset: next.commands, eventsOffset: next.events },
    committedAt: Math.max(shared.clock.nowMs(), changelogState.committedAt + 1),
    zoneRules: context.zones?.changelogState ?? '',
  }
}

/** Resolves with the offset of the first record in the changelog, and with how many there are. */
async function send(
  context: CommitContext,
  records: RecordOut[],
  targets: ReadonlySet<string>,
): Promise<{ first: number; count: number }> {
  const { writer, shared, partition, slots } = context
  if (writer === undefined) throw new Error(`Partition ${partition} has something to log before it is claimed.`)
  const count = records.filter((record) => record.topic === shared.names.state).length
  const committing = slots.run(async () => {
    const startedAt = performance.now()
    const offsets = await writer.commit(records)
    shared.metrics.commit.observe((performance.now() - startedAt) / 1_000)
    shared.metrics.commitBatch.observe(records.length)
    return { first: firstOffset(offsets, shared.names.state, partition), count }
  })
  return committing.catch(async (error) => {
    // A topic of the user's may be at fault: what is seen of it before the next try keeps it out of that one.
    if (targets.size > 0) await shared.targets?.failed(targets, error)
    throw error
  })
}
