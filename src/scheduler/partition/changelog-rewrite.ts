/** Writes entries of the store to the changelog again, after offsets or a log restarted. */
import { keyAfter, rangeOf } from '../../../streams/state/index.ts'
import type { PartitionStore, RecordOut, StoreEntry, StoreOp } from '../../ports/index.ts'
import { Closed } from './assignment.ts'
import type { PartitionContext } from './partition-context.ts'

/** Limits of one transaction: records, and about their bytes. */
const sliceRecords = 500
const sliceBytes = 1_000_000

/**
 * Header of entries from a whole store that is logged again. Its value is the claim time of the owner. A reader that does not
 * know this claim read another log before.
 */
export const loggedAgainHeader = 'duelog-logged-again'

/** Commits the entries slice by slice. Resolves with their count. Call it for a claimed partition only. */
export async function logEntries(
  context: PartitionContext,
  entries: AsyncIterable<StoreOp>,
  headers: Record<string, string> = {},
): Promise<number> {
  const { writer, partition, shared } = context
  let count = 0
  let slice: RecordOut[] = []
  let bytes = 0
  const put = async (): Promise<void> => {
    if (context.closing) throw new Closed()
    if (slice.length > 0) await writer?.commit(slice)
    count += slice.length
    slice = []
    bytes = 0
  }
  for await (const { key, value } of entries) {
    slice.push({ topic: shared.names.state, partition, key, value, headers })
    bytes += key.length + (value?.length ?? 0)
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
