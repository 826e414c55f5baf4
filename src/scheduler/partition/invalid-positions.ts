/**
 * Positions outside their log: past its end, because the log was truncated or recreated, or before its beginning, because
 * records expired unread. Reading continues at the beginning of the log, and the reset is reported (ADR 0034).
 */
import type { Position, StateEntryInput } from '../../../schemas/index.ts'
import {
  definitionValue,
  isRetainedDefinition,
  keyAfter,
  prefix,
  rangeOf,
  storedDefinition,
} from '../../../streams/state/index.ts'
import { counted } from '../../../streams/text/index.ts'
import type { PartitionStore, PositionReset, RecordOut, StoreEntry } from '../../ground/ports/index.ts'
import { perhapsTaken, type Range, type Source } from '../input/index.ts'
import { positionKey, readEntry } from '../state/index.ts'
import { Closed } from './assignment.ts'
import type { PartitionContext } from './partition-context.ts'

/** Limits of one transaction that logs entries again: records, and about their bytes. */
const sliceRecords = 500
const sliceBytes = 1_000_000

/** Why a position is outside its log; undefined if it is inside. */
export function outside(offset: number, { earliest, next }: Range): PositionReset['reason'] | undefined {
  if (offset > next) return 'beyond-end'
  return offset < earliest ? 'expired' : undefined
}

/** Sets where a new owner starts to read commands and reports, and what it knows of the earlier positions. */
export function goOn(
  context: PartitionContext,
  position: Position | null,
  claimedAt: number,
  ends: Record<'commands' | 'events', Range>,
): void {
  const { jobsOffset = 0, commandsOffset = 0, eventsOffset = 0 } = position ?? {}
  const { aheadUntil = 0, commandsUntil = 0, commandsAnewTo = 0 } = position ?? {}
  const commands = sound(context, 'commands', commandsOffset, ends.commands)
  const events = sound(context, 'events', eventsOffset, ends.events)
  const offsets = { jobsOffset, commandsOffset, eventsOffset }
  const logged = { ...offsets, aheadUntil, commandsUntil, commandsAnewTo, claimedAt, committedAt: 0 }
  // Commands before this end were taken already. Later ones are new.
  if (commands.isRecreated) logged.commandsAnewTo = commands.end
  // Reports of runs, once read, prove that something was decided. Positions that are logged before that keep the question open,
  // because a position alone proves nothing.
  const isPositionMissing = position === null && events.end > 0
  if (isPositionMissing) Object.assign(logged, { commandsUntil: perhapsTaken, commandsAnewTo: commands.end })
  const mayBeLost = isPositionMissing || commandsUntil === perhapsTaken
  context.input.positions.claimed(logged, { commands: commands.from, events: events.from }, mayBeLost)
}

/**
 * Called when all reports are read. A report of a run proves that the run was decided. Marks, records of foreign clients and
 * unreadable records prove nothing.
 */
export function judgeLoss(context: PartitionContext): void {
  context.input.positions.lossJudged()
  if (context.input.positions.hasReports) reportLost(context)
}

/** The offset to continue an input from: its logged position, or the beginning of the log if the position is outside of it. */
function sound(
  context: PartitionContext,
  source: 'commands' | 'events',
  offset: number,
  range: Range,
): { from: number; end: number; isRecreated: boolean } {
  const reason = outside(offset, range)
  // Nothing was read of this log yet, so nothing of it was expected.
  if (reason === undefined || (offset === 0 && reason === 'expired'))
    return { from: Math.max(offset, range.earliest), end: range.next, isRecreated: false }
  reportReset(context, source, offset, range, reason)
  return { from: range.earliest, end: range.next, isRecreated: reason === 'beyond-end' }
}

function reportLost(context: PartitionContext): void {
  const { names, metrics, logger, clock } = context.shared
  context.assignment.lastReset = { topic: names.state, from: 0, to: 0, reason: 'lost', at: clock.nowMs() }
  metrics.positionsReset.inc({ topic: names.state, reason: 'lost' })
  logger.error(
    { event: 'states-lost', topic: names.state, partition: context.partition },
    `${names.state}/${context.partition} holds no position, though ${names.events} holds reports: all that was decided is lost, and this process has no copy. Jobs begin again from their definitions, with run number 1. Of commands that were there only PAUSE and RESUME count.`,
  )
}

function reportReset(
  context: PartitionContext,
  source: Source,
  offset: number,
  range: Range,
  reason: PositionReset['reason'],
): void {
  const { names, metrics, logger, clock } = context.shared
  const topic = names[source]
  context.assignment.lastReset = { topic, from: offset, to: range.earliest, reason, at: clock.nowMs() }
  metrics.positionsReset.inc({ topic, reason })
  const what =
    reason === 'expired'
      ? `${counted(range.earliest - offset, 'record expired before it was', 'records expired before they were')} read`
      : 'it was truncated, or deleted and created again'
  logger.error(
    { event: 'position-reset', topic, partition: context.partition, offset, ...range, reason },
    `Position ${offset} lies outside of ${topic}/${context.partition}, which goes from ${range.earliest} to ${range.next}: ${what}. It is read from its beginning.`,
  )
}

/**
 * Handles a definitions log that ends before the position up to which definitions are decided. Offsets of definitions have no
 * meaning then. Each state is logged again without a definition, so that all definitions in `jobs` count and none of them as
 * decided. Run numbers, active runs and effects of commands stay. The position is logged last, so a crash in between repeats
 * all of it.
 */
export async function definitionsWereRecreated(
  context: PartitionContext,
  { claimOffset, claimedAt }: Pick<Position, 'claimOffset' | 'claimedAt'>,
  range: Range,
): Promise<boolean> {
  const { names, codecs, logger } = context.shared
  const {
    partition,
    writer,
    local: { store },
  } = context
  const position = (await readEntry(codecs, store, positionKey))?.position
  // A store that followed the old log is not better than its position.
  if (!position || writer === undefined || position.jobsOffset <= range.next)
    return context.input.positions.applied.jobs > range.next
  reportReset(context, 'jobs', position.jobsOffset, range, 'beyond-end')
  const states = await logEntries(context, unboundEntries(context))
  const resetPosition = { ...position, claimOffset, claimedAt, jobsOffset: 0 }
  const value = codecs.state.encode({ position: resetPosition })
  await writer.commit([{ topic: names.state, partition, key: positionKey, value }])
  logger.error(
    { event: 'definitions-lost', topic: names.jobs, partition, states },
    `${states} states of partition ${partition} wait for their definitions: send those again that are not in ${names.jobs} any more.`,
  )
  return true
}

/** Commits the entries slice by slice. Resolves with their count. */
async function logEntries(context: PartitionContext, entries: AsyncIterable<StoreEntry>): Promise<number> {
  const { writer, partition, shared } = context
  let count = 0
  let slice: RecordOut[] = []
  let bytes = 0
  const put = async (): Promise<void> => {
    if (context.life.closing) throw new Closed()
    if (slice.length > 0) await writer?.commit(slice)
    count += slice.length
    slice = []
    bytes = 0
  }
  for await (const { key, value } of entries) {
    slice.push({ topic: shared.names.state, partition, key, value })
    bytes += key.length + value.length
    if (slice.length >= sliceRecords || bytes >= sliceBytes) await put()
  }
  await put()
  return count
}

/** All entries of these kinds, one kind after another. */
export async function* entriesOf(store: PartitionStore, kinds: readonly number[]): AsyncGenerator<StoreEntry> {
  for (const kind of kinds) {
    const { to, ...range } = rangeOf(kind)
    for (let { from } = range; ; ) {
      // One scan is in memory as a whole.
      const entries = await store.scan({ from, to, limit: sliceRecords, bytesMax: sliceBytes })
      yield* entries
      const last = entries.at(-1)
      if (last === undefined) break
      from = keyAfter(last.key)
    }
  }
}

async function* unboundEntries(context: PartitionContext): AsyncGenerator<StoreEntry> {
  for await (const entry of entriesOf(context.local.store, [prefix.state, prefix.snapshot])) {
    const value = await unbound(context, entry)
    if (value !== undefined) yield { key: entry.key, value }
  }
}

/** The entry without offsets of the old log; undefined if it has none. */
async function unbound(context: PartitionContext, { key, value }: StoreEntry): Promise<Buffer | undefined> {
  const { codecs } = context.shared
  const entry = await codecs.state.decode(value)
  if (key[0] === prefix.snapshot) {
    if (!isRetainedDefinition(key) || entry.snapshot === null) return undefined
    return codecs.state.encode({ snapshot: definitionValue({ ...storedDefinition(entry.snapshot), offset: 0 }) })
  }
  const { state } = entry
  if (state === null) return undefined
  // Offset 0 is a valid offset. An entry stays only if it refers to no definition already.
  const unboundState = { ...state, specOffset: state.definitionKept ? 0 : -1, droppedOffset: -1 }
  if (state.specOffset === unboundState.specOffset && state.droppedOffset === -1) return undefined
  return codecs.state.encode({ state: unboundState } as StateEntryInput)
}
