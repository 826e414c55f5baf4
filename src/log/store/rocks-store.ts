/**
 * The partition store over RocksDB: one directory for each partition, one column family, write-ahead log on.
 *
 * A WAL without fsync is enough. kill −9 loses nothing. After a power loss RocksDB has a prefix of the batches, and the checkpoint in it
 * says from where the logs must be read again.
 */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import RocksDB, { BloomFilterPolicy } from 'rocksdb-native'
import { emptyValue } from '../../../streams/state/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { PartitionStore, PartitionStores, ScanOptions, StoreEntry, StoreOp, StoreReader } from '../../ground/ports/index.ts'
import { privateFolderMode } from '../../ground/process/index.ts'
import { withBloomFilter } from './bloom-filter.ts'
import { withWriteSequence } from './write-sequence.ts'

/** Small, because a process may own 64 partitions. Each open store has two write buffers while one is flushed. */
const writeBufferBytes = 4 * 1024 * 1024
/** Larger values are in separate files beside the tables. In a table each would be a block, which every compaction rewrites. */
const blobBytesMin = 16 * 1024
const blobFileBytes = 64 * 1024 * 1024
/** Share of garbage in the oldest of these files at which they are rewritten. */
const blobGarbageMax = 0.5
/** How files are read. */
export const tableOptions = {
  // RocksDB would take 32 MB for each store, which glibc keeps after the store is closed. The cache of the system is as good (ADR 0063).
  blockCache: false,
  tableCacheIndexAndFilterBlocks: false,
  // An open store holds these bits of all its keys. With 10, the default, a read of a missing key is hardly cheaper (ADR 0149).
  filterPolicy: new BloomFilterPolicy(5),
  enableBlobFiles: true,
}
/** A store with this number of failures without a known reason is wiped. */
const failuresMax = 3
/** Entries of one call to the thread pool. */
const scanCapacity = 1_024
/** The same if values may be large. With half a megabyte each these are 16 MB. */
const scanCapacityBounded = 32

export const pathOf = (folder: string, partition: number): string => join(folder, `partition-${partition}`)

/** Stores in numbered folders under `folder`. */
export function rocksStores(folder: string): PartitionStores {
  /** Why a store must not be opened again as it is. */
  const rotten = new Map<number, string>()
  const failures = new Map<number, number>()
  const wipe = async (partition: number): Promise<void> => {
    await rm(pathOf(folder, partition), { recursive: true, force: true })
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
    noticing(await openChecked(pathOf(folder, partition)), (error) => failed(partition, error))
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
          if (isLocked(wiped)) throw lockedBy(pathOf(folder, partition), error)
          if (isOutOfReach(wiped)) throw outOfReach(pathOf(folder, partition), wiped, error)
        }
      }
      // Whatever is wrong with the files, the logs hold everything (invariant I3), so an empty store is opened.
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
    // An open store would keep the lock, and this process could never open the wiped folder.
    await store.close()
    throw error
  }
}

/**
 * Damaged blocks are found only when they are read, by Duelog or by a compaction; after a compaction every write fails. The partition
 * then reopens, and the store is wiped if `tell` has found a reason.
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

export function readerOf(db: RocksDB): StoreReader {
  return {
    async get(keys: Buffer[]): Promise<(Buffer | null)[]> {
      if (keys.length === 0) return []
      const batch = db.read({ capacity: keys.length, autoDestroy: true })
      const values = keys.map((key) => batch.get(key))
      batch.tryFlush()
      return Promise.all(values)
    },
    async scan({ from, to, limit, bytesMax, keysOnly = false }: ScanOptions): Promise<StoreEntry[]> {
      const entries: StoreEntry[] = []
      if (limit <= 0) return entries
      const capacity = Math.min(limit, bytesMax === undefined ? scanCapacity : scanCapacityBounded)
      let bytes = 0
      const iterator = db.iterator({ gte: from, lt: to }, { limit, capacity, values: !keysOnly })
      const isFull = (): boolean => entries.length >= limit || bytes >= (bytesMax ?? Number.POSITIVE_INFINITY)
      // A loop over it would make several promises for each entry.
      iterator.on('data', ({ key, value }) => {
        if (isFull()) return
        entries.push({ key, value: value ?? emptyValue })
        bytes += key.length + (value?.length ?? 0)
        if (isFull()) iterator.destroy()
      })
      await new Promise<void>((resolve, reject) => iterator.on('close', resolve).on('error', reject))
      return entries
    },
  }
}

async function openStore(path: string): Promise<PartitionStore> {
  const db = new RocksDB(path, {
    ...tableOptions,
    writeBufferSize: writeBufferBytes,
    maxBackgroundJobs: 2,
    maxOpenFiles: 256,
    minBlobSize: blobBytesMin,
    blobFileSize: blobFileBytes,
    blobGarbageCollectionForceThreshold: blobGarbageMax,
  })
  await db.ready()
  return {
    ...readerOf(db),
    async apply(ops: StoreOp[]): Promise<void> {
      if (ops.length === 0) return
      const batch = db.write({ capacity: ops.length, autoDestroy: true })
      for (const { key, value } of ops) {
        if (value === null) batch.tryDelete(key)
        else batch.tryPut(key, value)
      }
      await batch.flush()
    },
    compact: (from, to) => db.compactRange(from, to),
    async bytes() {
      const inTables = await db.approximateSize(Buffer.of(0), Buffer.of(255), { includeMemtables: true })
      return inTables + Number(await db.getProperty('rocksdb.total-blob-file-size'))
    },
    close: () => db.close(),
  }
}

/** RocksDB's words for damaged files. Every other error, such as a full disk, may pass. */
const isRot = (reason: string): boolean => /corrupt|checksum|bad block|truncated/i.test(reason)

/** RocksDB's words if another process, or this one, has the store open. */
const isLocked = (reason: string): boolean => /lock hold|while lock file/i.test(reason)

/** RocksDB's words if it cannot reach the lock file: the disk is broken or read-only, or too many files are open. The store may be intact. */
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

/** The error of a write only says that it failed. Its cause says why. */
export function reasonOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: string; cause?: unknown; errors?: unknown[] }
  const inner = cause ?? errors?.[0]
  return inner === undefined ? `${messageOf(error)}${code === undefined ? '' : ` (${code})`}` : reasonOf(inner)
}
