/**
 * Positions that lie outside their log: beyond its end, because it was truncated or made anew, or before its beginning, because records
 * expired unread. What is there is read from its beginning on, and what happened is said (ADR 0034).
 */
import type { StateEntryInput } from '../../schemas/generated.ts'
import { definitionValue, isKeptDefinition, rangeOf as keysOf, prefix, storedDefinition } from '../../streams/keys.ts'
import type { PositionReset } from '../owner-views.ts'
import type { RecordOut } from '../ports.ts'
import type { Range } from './ends-question.ts'
import { positionKey, readEntry } from './local-record.ts'
import { rangeOf } from './log-ends.ts'
import type { Ownership } from './ownership.ts'
import type { PartitionStore, StoreEntry } from './ports.ts'

/** Why a position lies outside its log; undefined when it does not. */
export function outside(offset: number, { earliest, next }: Range): PositionReset['reason'] | undefined {
  if (offset > next) return 'beyond-end'
  return offset < earliest ? 'expired' : undefined
}

/** Where an input is read on from: its logged position, or the beginning of a log in which that does not lie. */
export async function soundPosition(own: Ownership, source: 'commands' | 'events', offset: number): Promise<number> {
  const range = await rangeOf(own.shared.admin, own.shared.names[source], own.partition)
  const reason = outside(offset, range)
  // Before anything was read of a log, nothing of it was expected.
  if (reason === undefined || (offset === 0 && reason === 'expired')) return Math.max(offset, range.earliest)
  reportReset(own, source, offset, range, reason)
  return range.earliest
}

function reportReset(
  own: Ownership,
  source: 'jobs' | 'commands' | 'events',
  offset: number,
  range: Range,
  reason: PositionReset['reason'],
): void {
  const { names, metrics, logger, clock } = own.shared
  const topic = names[source]
  own.lastReset = { topic, from: offset, to: range.earliest, reason, at: clock.nowMs() }
  metrics.positionsReset.inc({ topic, reason })
  const what =
    reason === 'expired'
      ? `${range.earliest - offset} records expired before they were read`
      : 'it was truncated, or deleted and made anew'
  logger.error(
    { topic, partition: own.partition, offset, ...range, reason },
    `Position ${offset} lies outside of ${topic}/${own.partition}, which goes from ${range.earliest} to ${range.next}: ${what}. It is read from its beginning.`,
  )
}

/** Records of one transaction, and about their bytes, while states are written anew. */
const sliceRecords = 500
const sliceBytes = 1_000_000

/**
 * Whether the log of definitions ends before the position up to which they are decided. Then offsets of definitions say nothing any more:
 * each state is logged as one that knows no definition yet, so that whatever stands in `jobs` counts, and nothing of it as decided. Run
 * numbers, active runs and what commands did stay. It ends with the position, so a crash on the way does it all again.
 */
export async function definitionsBeganAnew(own: Ownership, store: PartitionStore): Promise<boolean> {
  const { admin, names, codecs, logger } = own.shared
  const { partition, writer } = own
  const position = (await readEntry(codecs, store, positionKey))?.position
  const range = await rangeOf(admin, names.jobs, partition)
  // A store that followed the old log is no better than its position.
  if (!position || writer === undefined || position.jobsOffset <= range.next) return own.applied.jobs > range.next
  reportReset(own, 'jobs', position.jobsOffset, range, 'beyond-end')
  let states = 0
  const put = async (records: RecordOut[]): Promise<void> => {
    if (records.length > 0) await writer.commit(records)
  }
  for (const kind of [prefix.state, prefix.snapshot] as const) {
    let slice: RecordOut[] = []
    let bytes = 0
    for await (const entry of entriesOf(store, kind)) {
      const value = await unbound(own, entry)
      if (value === undefined) continue
      states++
      slice.push({ topic: names.state, partition, key: entry.key, value })
      bytes += value.length
      if (slice.length < sliceRecords && bytes < sliceBytes) continue
      await put(slice)
      slice = []
      bytes = 0
    }
    await put(slice)
  }
  const anew = { ...position, jobsOffset: 0 }
  await put([{ topic: names.state, partition, key: positionKey, value: codecs.state.encode({ position: anew }) }])
  logger.error(
    { topic: names.jobs, partition, states },
    `${states} states of partition ${partition} wait for their definitions: send those again that are not in ${names.jobs} any more.`,
  )
  return true
}

async function* entriesOf(store: PartitionStore, kind: number): AsyncGenerator<StoreEntry> {
  const { to, ...range } = keysOf(kind)
  for (let { from } = range; ; ) {
    const entries = await store.scan({ from, to, limit: sliceRecords })
    yield* entries
    const last = entries.at(-1)
    if (entries.length < sliceRecords || last === undefined) return
    from = Buffer.concat([last.key, Buffer.of(0)])
  }
}

/** The entry without offsets of the old log; undefined when it has none. */
async function unbound(own: Ownership, { key, value }: StoreEntry): Promise<Buffer | undefined> {
  const { codecs } = own.shared
  const entry = await codecs.state.decode(value)
  if (key[0] === prefix.snapshot) {
    if (!isKeptDefinition(key) || entry.snapshot === null) return undefined
    return codecs.state.encode({ snapshot: definitionValue({ ...storedDefinition(entry.snapshot), offset: 0 }) })
  }
  const { state } = entry
  if (state === null) return undefined
  // Offset 0 is as good as any other: only what says nothing already stays as it is.
  const unboundState = { ...state, specOffset: state.definitionKept ? 0 : -1, droppedOffset: -1 }
  if (state.specOffset === unboundState.specOffset && state.droppedOffset === -1) return undefined
  return codecs.state.encode({ state: unboundState } as StateEntryInput)
}
