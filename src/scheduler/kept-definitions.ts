/** Definitions that jobs may lose to compaction, because a tombstone that must not win stands behind them: the changelog holds them. */
import { definitionKey, isKeptDefinition, jobIdOfKey, prefix, rangeOf, storedDefinition } from '../../streams/keys.ts'
import type { SchedulerCodecs } from './codecs.ts'
import type { PartitionStore, StoreOp } from './ports.ts'

const slice = 1_000

/** Puts them where definitions are. Claimed partitions only: nothing else may write definitions meanwhile. */
export async function putKeptDefinitions(codecs: SchedulerCodecs, store: PartitionStore): Promise<void> {
  const { to, ...range } = rangeOf(prefix.snapshot)
  for (let { from } = range; ; ) {
    const entries = await store.scan({ from, to, limit: slice, keysOnly: true })
    const keys = entries.map(({ key }) => key).filter(isKeptDefinition)
    const values = await store.get(keys)
    const stored = await store.get(keys.map((key) => definitionKey(jobIdOfKey(key))))
    const ops: StoreOp[] = []
    for (const [index, key] of keys.entries()) {
      const entry = values[index]
      const kept = entry ? (await codecs.state.decode(entry)).snapshot : null
      const known = stored[index]
      if (kept === null || (known && storedDefinition(known).offset >= storedDefinition(kept).offset)) continue
      ops.push({ key: definitionKey(jobIdOfKey(key)), value: kept })
    }
    await store.apply(ops)
    const last = entries.at(-1)
    if (entries.length < slice || last === undefined) return
    from = Buffer.concat([last.key, Buffer.of(0)])
  }
}
