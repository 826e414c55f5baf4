/**
 * Positions that lie outside their log: beyond its end, because it was truncated or made anew, or before its beginning, because records
 * expired unread. What is there is read from its beginning on, and what happened is said (ADR 0034).
 */
import type { Position, StateEntryInput } from '../../../schemas/index.ts'
import { definitionValue, isRetainedDefinition, prefix, storedDefinition } from '../../../streams/state/index.ts'
import { counted } from '../../../streams/text/index.ts'
import type { PartitionStore, PositionReset, StoreEntry } from '../../ports/index.ts'
import { allTaken, perhapsTaken, type Range, type ReadSource } from '../input/index.ts'
import { positionKey, readEntry } from '../state/index.ts'
import { entriesOf, logEntries } from './changelog-rewrite.ts'
import type { PartitionContext } from './partition-context.ts'

/** Why a position lies outside its log; undefined when it does not. */
export function outside(offset: number, { earliest, next }: Range): PositionReset['reason'] | undefined {
  if (offset > next) return 'beyond-end'
  return offset < earliest ? 'expired' : undefined
}

/** From where a new owner reads commands and reports, and what it knows of the positions before. */
export function goOn(
  context: PartitionContext,
  position: Position | null,
  claimedAt: number,
  ends: Record<'commands' | 'events', Range>,
): void {
  const { jobsOffset = 0, commandsOffset = 0, eventsOffset = 0 } = position ?? {}
  const { aheadUntil = 0, commandsUntil = 0, commandsAnewTo = 0 } = position ?? {}
  const offsets = { jobsOffset, commandsOffset, eventsOffset }
  context.changelogState = { ...offsets, aheadUntil, commandsUntil, commandsAnewTo, claimedAt, committedAt: 0 }
  const commands = sound(context, 'commands', commandsOffset, ends.commands)
  const events = sound(context, 'events', eventsOffset, ends.events)
  context.applied.commands = commands.from
  context.applied.events = events.from
  // What was taken of them already stands below this end; what comes is new.
  if (commands.isAnew) context.changelogState.commandsAnewTo = commands.end
  // Whether anything was decided is told by reports of runs, once they are read. Positions that are logged before that leave it open:
  // a position by itself is no proof that somebody has judged.
  context.hasReports = false
  const isUntold = position === null && events.end > 0
  if (isUntold) Object.assign(context.changelogState, { commandsUntil: perhapsTaken, commandsAnewTo: commands.end })
  context.mayBeLost = isUntold || commandsUntil === perhapsTaken
}

/**
 * Reports were read as far as there are some. Somebody has reported runs, so somebody has decided them; but marks, what clients leave, and
 * what cannot be read stand there without anything having been decided.
 */
export function judgeLoss(context: PartitionContext): void {
  context.mayBeLost = false
  if (context.hasReports) {
    context.changelogState.commandsUntil = allTaken
    reportLost(context)
  } else Object.assign(context.changelogState, { commandsUntil: 0, commandsAnewTo: 0 })
}

/** Where an input is read on from: its logged position, or the beginning of a log in which that does not lie. */
function sound(
  context: PartitionContext,
  source: 'commands' | 'events',
  offset: number,
  range: Range,
): { from: number; end: number; isAnew: boolean } {
  const reason = outside(offset, range)
  // Before anything was read of a log, nothing of it was expected.
  if (reason === undefined || (offset === 0 && reason === 'expired'))
    return { from: Math.max(offset, range.earliest), end: range.next, isAnew: false }
  reportReset(context, source, offset, range, reason)
  return { from: range.earliest, end: range.next, isAnew: reason === 'beyond-end' }
}

function reportLost(context: PartitionContext): void {
  const { names, metrics, logger, clock } = context.shared
  context.lastReset = { topic: names.state, from: 0, to: 0, reason: 'lost', at: clock.nowMs() }
  metrics.positionsReset.inc({ topic: names.state, reason: 'lost' })
  logger.error(
    { topic: names.state, partition: context.partition },
    `${names.state}/${context.partition} holds no position, though ${names.events} holds reports: all that was decided is lost, and this process has no copy. Jobs begin anew from their definitions, with run number 1. Of commands that were there only PAUSE and RESUME count.`,
  )
}

export function reportReset(
  context: PartitionContext,
  source: ReadSource,
  offset: number,
  range: Range,
  reason: PositionReset['reason'],
): void {
  const { names, metrics, logger, clock } = context.shared
  const topic = names[source]
  context.lastReset = { topic, from: offset, to: range.earliest, reason, at: clock.nowMs() }
  metrics.positionsReset.inc({ topic, reason })
  const what =
    reason === 'expired'
      ? `${counted(range.earliest - offset, 'record expired before it was', 'records expired before they were')} read`
      : 'it was truncated, or deleted and made anew'
  logger.error(
    { topic, partition: context.partition, offset, ...range, reason },
    `Position ${offset} lies outside of ${topic}/${context.partition}, which goes from ${range.earliest} to ${range.next}: ${what}. It is read from its beginning.`,
  )
}

/**
 * Whether the log of definitions ends before the position up to which they are decided. Then offsets of definitions say nothing any more:
 * each state is logged as one that knows no definition yet, so that whatever stands in `jobs` counts, and nothing of it as decided. Run
 * numbers, active runs and what commands did stay. It ends with the position, so a crash on the way does it all again.
 */
export async function definitionsBeganAnew(
  context: PartitionContext,
  store: PartitionStore,
  { claimOffset, claimedAt }: Pick<Position, 'claimOffset' | 'claimedAt'>,
  range: Range,
): Promise<boolean> {
  const { names, codecs, logger } = context.shared
  const { partition, writer } = context
  const position = (await readEntry(codecs, store, positionKey))?.position
  // A store that followed the old log is no better than its position.
  if (!position || writer === undefined || position.jobsOffset <= range.next) return context.applied.jobs > range.next
  reportReset(context, 'jobs', position.jobsOffset, range, 'beyond-end')
  const states = await logEntries(context, unboundEntries(context, store))
  const anew = { ...position, claimOffset, claimedAt, jobsOffset: 0 }
  const value = codecs.state.encode({ position: anew })
  await writer.commit([{ topic: names.state, partition, key: positionKey, value }])
  logger.error(
    { topic: names.jobs, partition, states },
    `${states} states of partition ${partition} wait for their definitions: send those again that are not in ${names.jobs} any more.`,
  )
  return true
}

async function* unboundEntries(context: PartitionContext, store: PartitionStore): AsyncGenerator<StoreEntry> {
  for await (const entry of entriesOf(store, [prefix.state, prefix.snapshot])) {
    const value = await unbound(context, entry)
    if (value !== undefined) yield { key: entry.key, value }
  }
}

/** The entry without offsets of the old log; undefined when it has none. */
async function unbound(context: PartitionContext, { key, value }: StoreEntry): Promise<Buffer | undefined> {
  const { codecs } = context.shared
  const entry = await codecs.state.decode(value)
  if (key[0] === prefix.snapshot) {
    if (!isRetainedDefinition(key) || entry.snapshot === null) return undefined
    return codecs.state.encode({ snapshot: definitionValue({ ...storedDefinition(entry.snapshot), offset: 0 }) })
  }
  const { state } = entry
  if (state === null) return undefined
  // Offset 0 is as good as any other: only what says nothing already stays as it is.
  const unboundState = { ...state, specOffset: state.definitionKept ? 0 : -1, droppedOffset: -1 }
  if (state.specOffset === unboundState.specOffset && state.droppedOffset === -1) return undefined
  return codecs.state.encode({ state: unboundState } as StateEntryInput)
}
