/**
 * Definitions that were applied before the state they belong to was known.
 *
 * While warming, definitions are read although the previous owner may still log states. A state that came afterwards and has not taken
 * the stored definition into account gets it as an input now; one whose definition went has its deletion repeated.
 */
import { definitionKey, isKeptDefinition, jobIdOfKey, prefix, rangeOf, storedDefinition } from '../../streams/keys.ts'
import type { SchedulerCodecs } from './codecs.ts'
import { loadJobs } from './job-loader.ts'
import type { Mail } from './mailbox.ts'
import type { PartitionStore, StoreOp } from './ports.ts'

const slice = 1_000

/** Mail that has to be folded before any other. `jobsApplied`: definitions before it are part of the store. */
export async function reconcile(
  codecs: SchedulerCodecs,
  store: PartitionStore,
  touched: ReadonlySet<string>,
  jobsApplied: number,
): Promise<Mail[]> {
  const mails: Mail[] = []
  const ids = [...touched]
  for (let from = 0; from < ids.length; from += slice) {
    for (const job of (await loadJobs(store, codecs, ids.slice(from, from + slice))).values()) {
      const { definition, state } = job
      if (state === undefined) continue
      const mail = { source: 'jobs', offset: jobsApplied - 1, jobId: job.id, value: null, bytes: 0, moved: undefined } as const
      if (definition === undefined && state.specOffset < jobsApplied) {
        mails.push({ ...mail, input: { kind: 'deletion', offset: jobsApplied - 1 } })
      } else if (definition !== undefined && definition.offset > state.specOffset) {
        mails.push({ ...mail, input: { kind: 'definition', definition, reread: true } })
      }
    }
  }
  return mails
}

/**
 * Definitions that jobs may have lost to compaction go from the changelog into the store. Claimed partitions only: nothing else may
 * write definitions meanwhile.
 */
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
