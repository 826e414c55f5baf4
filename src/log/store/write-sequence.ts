/**
 * Write sequence of a store. It detects that writes are missing between older and newer ones.
 *
 * RocksDB notices damaged blocks and missing files. It does not notice if the list of its files was truncated. Then the last tables are
 * missing, but later writes are there, and with them the checkpoint. So each opening, and each megabyte of writes, adds a numbered link.
 * Links are never deleted. If one is missing, all writes of its time are missing.
 *
 *   L·number u32 BE    empty value; the byte is not used by streams/state/keys.ts
 *
 * Scans skip the links, so that a caller that deletes all it finds does not delete them.
 */
import { emptyValue } from '../../../streams/state/index.ts'
import type { PartitionStore, ScanOptions, StoreEntry, StoreOp } from '../../ground/ports/index.ts'

const first = 0x4c
const [linksFrom, linksTo] = [Buffer.of(first), Buffer.of(first + 1)]
/** Bytes between two links: several links for each write buffer, so that each table and each write-ahead log has one. */
const linkBytes = 1024 * 1024
/** Approximate overhead of an entry in a write buffer. */
const entryBytes = 64

/** Checks the links and writes the next one. Rejects with an error that says "corrupt" if one is missing. */
export async function withWriteSequence(store: PartitionStore): Promise<PartitionStore> {
  const links = await store.scan({ from: linksFrom, to: linksTo, limit: 0xffff_ffff, keysOnly: true })
  const missing = links.findIndex(({ key }, number) => key.readUInt32BE(1) !== number)
  if (missing >= 0)
    throw new Error(`The store is corrupt: what was written between its parts ${missing - 1} and ${missing + 1} is missing.`)
  let next = links.length
  let bytes = 0
  const apply = async (ops: StoreOp[]): Promise<void> => {
    for (const { key, value } of ops) bytes += key.length + (value?.length ?? 0) + entryBytes
    if (bytes < linkBytes) return store.apply(ops)
    bytes = 0
    await store.apply([...ops, link(next++)])
  }
  await store.apply([link(next++)])
  return { ...store, apply, scan: (options) => scanBeside(store, options) }
}

/** The entries before the links, then those after them. */
async function scanBeside(store: PartitionStore, options: ScanOptions): Promise<StoreEntry[]> {
  const { from, to, limit, bytesMax = Number.POSITIVE_INFINITY } = options
  const entries: StoreEntry[] = []
  let bytes = 0
  for (const range of [
    { from, to: least(to, linksFrom) },
    { from: most(from, linksTo), to },
  ]) {
    if (Buffer.compare(range.from, range.to) >= 0 || entries.length >= limit || bytes >= bytesMax) continue
    const left = { limit: limit - entries.length, ...(options.bytesMax === undefined ? {} : { bytesMax: bytesMax - bytes }) }
    const found = await store.scan({ ...options, ...range, ...left })
    for (const entry of found) {
      entries.push(entry)
      bytes += entry.key.length + entry.value.length
    }
  }
  return entries
}

const least = (left: Buffer, right: Buffer): Buffer => (Buffer.compare(left, right) <= 0 ? left : right)
const most = (left: Buffer, right: Buffer): Buffer => (Buffer.compare(left, right) >= 0 ? left : right)

function link(number: number): StoreOp {
  const key = Buffer.alloc(5)
  key[0] = first
  key.writeUInt32BE(number, 1)
  return { key, value: emptyValue }
}
