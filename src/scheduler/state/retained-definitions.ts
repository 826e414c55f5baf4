/** Retained definitions: the changelog holds them, because compaction may remove them from jobs. A later tombstone that was refused would cause that. */
import {
  definitionIndexKeys,
  definitionKey,
  emptyValue,
  isRetainedDefinition,
  jobIdOfKey,
  keyAfter,
  prefix,
  rangeOf,
  stateKey,
  storedDefinition,
} from '../../../streams/state/index.ts'
import { knownDefinition, type PartitionStore, type StoreOp } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from './stored-entry.ts'

const slice = 1_000
/** Retained definitions that are read together. Each may have half a megabyte, and the stored definition as much. */
const valuesAtOnce = 8

/** Puts retained definitions under the keys of definitions. Only for a claimed partition, because nothing else may write definitions meanwhile. */
export async function putRetainedDefinitions(codecs: SchedulerCodecs, store: PartitionStore): Promise<void> {
  const { to, ...range } = rangeOf(prefix.snapshot)
  for (let { from } = range; ; ) {
    const entries = await store.scan({ from, to, limit: slice, keysOnly: true })
    const keys = entries.map(({ key }) => key).filter(isRetainedDefinition)
    for (let at = 0; at < keys.length; at += valuesAtOnce) await putSome(codecs, store, keys.slice(at, at + valuesAtOnce))
    const last = entries.at(-1)
    if (entries.length < slice || last === undefined) return
    from = keyAfter(last.key)
  }
}

async function putSome(codecs: SchedulerCodecs, store: PartitionStore, keys: Buffer[]): Promise<void> {
  const values = await store.get(keys)
  const stored = await store.get(keys.map((key) => definitionKey(jobIdOfKey(key))))
  const states = await store.get(keys.map((key) => stateKey(jobIdOfKey(key))))
  const ops: StoreOp[] = []
  for (const [index, key] of keys.entries()) {
    const kept = (await entryOf(codecs, values[index]))?.snapshot ?? null
    const known = stored[index]
    if (kept === null) continue
    // Beside a state that cannot be read, a later one was taken from jobs although it was refused.
    const isReadable = (await entryOf(codecs, states[index])) !== undefined
    if (isReadable && known && storedDefinition(known).offset >= storedDefinition(kept).offset) continue
    const jobId = jobIdOfKey(key)
    const { spec } = await knownDefinition(codecs, storedDefinition(kept))
    ops.push({ key: definitionKey(jobId), value: kept })
    if (spec !== undefined) for (const index of definitionIndexKeys(jobId, spec)) ops.push({ key: index, value: emptyValue })
  }
  await store.apply(ops)
}
