/**
 * The partition store over RocksDB: one directory for each partition, one column family, write-ahead log on.
 *
 * WAL without fsync is exactly enough: kill −9 loses nothing, and after a power loss RocksDB comes back with a prefix of the batches,
 * whose own bookkeeping record says where the logs have to be read from again.
 */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import RocksDB from 'rocksdb-native'
import { emptyValue } from '../../streams/state/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { PartitionStore, PartitionStores, ScanOptions, StoreEntry, StoreOp } from '../ports/index.ts'
import { privateFolderMode } from '../process/index.ts'
import { withBloomFilter } from './bloom-filter.ts'
import { withWriteSequence } from './write-sequence.ts'

/** A process may own 64 partitions: write buffers stay small. Two of these exist for each open store while one is flushed. */
const writeBufferBytes = 4 * 1024 * 1024
/** Larger values stand in files of their own, beside the tables. In a table each would be a block, which is written anew by every compaction. */
const blobBytesMin = 16 * 1024
const blobFileBytes = 64 * 1024 * 1024
/** Share of garbage in the oldest of these files at which they are written anew. */
const blobGarbageMax = 0.5
/** A store that failed so often for reasons it does not name is wiped. */
const failuresMax = 3
/** Entries that one hop to the thread pool brings back. */
const scanCapacity = 1_024
/** The same where values may be large: of half a megabyte these are 16 MB. */
const scanCapacityBounded = 32

/** Stores in numbered folders under `folder`. */
export function rocksStores(folder: string): PartitionStores {
  const pathOf = (partition: number): string => join(folder, `partition-${partition}`)
  /** Why a store must not be opened again as it is. */
  const rotten = new Map<number, string>()
  const failures = new Map<number, number>()
  const wipe = async (partition: number): Promise<void> => {
    await rm(pathOf(partition), { recursive: true, force: true })
    rotten.delete(partition)
    failures.delete(partition)
  }
  const failed = (partition: number, error: unknown): void => {
    const times = (failures.get(partition) ?? 0) + 1
    failures.set(partition, times)
    const reason = reasonOf(error)
    if (isRot(reason) || times >= failuresMax) rotten.set(partition, reason)
  }
  const opened = async (partition: number): Promise<PartitionStore> =>
    noticing(await openChecked(pathOf(partition)), (error) => failed(partition, error))
  return {
    wipe,
    async held() {
      const names = await readdir(folder).catch(() => [])
      return names.flatMap((name) => /^partition-(\d+)$/.exec(name)?.[1] ?? []).map(Number)
    },
    async open(partition) {
      await mkdir(folder, { recursive: true, mode: privateFolderMode })
      let wiped = rotten.get(partition)
      if (wiped === undefined) {
        try {
          return { store: await opened(partition), wiped }
        } catch (error) {
          wiped = reasonOf(error)
          if (isLocked(wiped)) throw lockedBy(pathOf(partition), error)
          if (isOutOfReach(wiped)) throw outOfReach(pathOf(partition), wiped, error)
        }
      }
      // Whatever is wrong with the files, the logs hold everything: begin anew (invariant I3).
      await wipe(partition)
      return { store: await opened(partition), wiped }
    },
  }
}

async function openChecked(path: string): Promise<PartitionStore> {
  const store = await openStore(path)
  try {
    const [first] = await store.scan({ from: Buffer.of(0), to: Buffer.of(255), limit: 1, keysOnly: true })
    const linked = await withWriteSequence(store)
    return first === undefined ? withBloomFilter(linked) : linked
  } catch (error) {
    // Left open it would keep the lock, and the emptied folder could never be opened by this process.
    await store.close()
    throw error
  }
}

/**
 * Damaged blocks show only when they are read, by us or by a compaction, after which every write fails. The partition then reopens,
 * and the store is wiped if `tell` found reason to.
 */
function noticing(store: PartitionStore, tell: (error: unknown) => void): PartitionStore {
  let closed = false
  const watched =
    <Args extends unknown[], Value>(task: (...args: Args) => Promise<Value>) =>
    async (...args: Args): Promise<Value> => {
      try {
        return await task(...args)
      } catch (error) {
        if (!closed) tell(error)
        throw error
      }
    }
  return {
    ...store,
    get: watched(store.get),
    apply: watched(store.apply),
    scan: watched(store.scan),
    compact: watched(store.compact),
    close() {
      closed = true
      return store.close()
    },
  }
}

async function openStore(path: string): Promise<PartitionStore> {
  const db = new RocksDB(path, {
    writeBufferSize: writeBufferBytes,
    maxBackgroundJobs: 2,
    maxOpenFiles: 256,
    // RocksDB would have 32 MB for each store, which glibc keeps when the store is closed. The system's own cache does as well (ADR 0063).
    blockCache: false,
    tableCacheIndexAndFilterBlocks: false,
    enableBlobFiles: true,
    minBlobSize: blobBytesMin,
    blobFileSize: blobFileBytes,
    blobGarbageCollectionForceThreshold: blobGarbageMax,
  })
  await db.ready()
  return {
    async get(keys: Buffer[]): Promise<(Buffer | null)[]> {
      if (keys.length === 0) return []
      const batch = db.read({ capacity: keys.length, autoDestroy: true })
      const values = keys.map((key) => batch.get(key))
      batch.tryFlush()
      return Promise.all(values)
    },
    async apply(ops: StoreOp[]): Promise<void> {
      if (ops.length === 0) return
      const batch = db.write({ capacity: ops.length, autoDestroy: true })
      for (const { key, value } of ops) {
        if (value === null) batch.tryDelete(key)
        else batch.tryPut(key, value)
      }
      await batch.flush()
    },
    async scan({ from, to, limit, bytesMax, keysOnly = false }: ScanOptions): Promise<StoreEntry[]> {
      const entries: StoreEntry[] = []
      if (limit <= 0) return entries
      const capacity = Math.min(limit, bytesMax === undefined ? scanCapacity : scanCapacityBounded)
      let bytes = 0
      for await (const { key, value } of db.iterator({ gte: from, lt: to }, { limit, capacity, values: !keysOnly })) {
        entries.push({ key, value: value ?? emptyValue })
        bytes += key.length + (value?.length ?? 0)
        if (entries.length >= limit || bytes >= (bytesMax ?? Number.POSITIVE_INFINITY)) break
      }
      return entries
    },
    compact: (from, to) => db.compactRange(from, to),
    async bytes() {
      const inTables = await db.approximateSize(Buffer.of(0), Buffer.of(255), { includeMemtables: true })
      return inTables + Number(await db.getProperty('rocksdb.total-blob-file-size'))
    },
    close: () => db.close(),
  }
}

/** RocksDB's own words for it; everything else, such as a full disk, may pass. */
const isRot = (reason: string): boolean => /corrupt|checksum|bad block|truncated/i.test(reason)

/** RocksDB's own words when another process, or this one, has the store open. */
const isLocked = (reason: string): boolean => /lock hold|while lock file/i.test(reason)

/** And when it gets as far as that file no more, or not now: a disk that is broken or read-only, too many open files. That says nothing of the store. */
const isOutOfReach = (reason: string): boolean => /file for lock/i.test(reason)

const outOfReach = (path: string, reason: string, cause: unknown): DuelogError =>
  new DuelogError('not-ready', `The local store ${path} cannot be opened: ${reason}. Look at the disk of DUELOG_DATA_DIR.`, {
    cause,
  })

const lockedBy = (path: string, cause: unknown): DuelogError =>
  new DuelogError(
    'foreign-data',
    `The local store ${path} is open in another process. Give each process a DUELOG_DATA_DIR of its own.`,
    {
      cause,
    },
  )

/** The binding says of a write only that it failed; the cause says why. */
function reasonOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: string; cause?: unknown; errors?: unknown[] }
  const inner = cause ?? errors?.[0]
  return inner === undefined ? `${messageOf(error)}${code === undefined ? '' : ` (${code})`}` : reasonOf(inner)
}
