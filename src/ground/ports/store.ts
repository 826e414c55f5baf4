/** Port to the local store of the scheduler. src/log/store implements it over RocksDB, tests over a sorted map. */

export interface StoreOp {
  key: Buffer
  /** null deletes. */
  value: Buffer | null
}

export interface StoreEntry {
  key: Buffer
  /** Empty with `keysOnly`. */
  value: Buffer
}

export interface ScanOptions {
  /** First key, inclusive. */
  from: Buffer
  /** End, exclusive. */
  to: Buffer
  limit: number
  /** The scan ends with the entry that reaches this size. Then there may be more entries although `limit` is not reached. Default: no limit. */
  bytesMax?: number
  keysOnly?: boolean
}

export interface StoreReader {
  get(keys: Buffer[]): Promise<(Buffer | null)[]>
  /** Entries in key order. */
  scan(options: ScanOptions): Promise<StoreEntry[]>
}

/** One partition's ordered keys and values. A store may be lost at any time: the logs hold everything (invariant I3). */
export interface PartitionStore extends StoreReader {
  /** All or nothing; survives kill −9 of the process. */
  apply(ops: StoreOp[]): Promise<void>
  /** Frees the space of a deleted range. */
  compact(from: Buffer, to: Buffer): Promise<void>
  bytes(): Promise<number>
  close(): Promise<void>
}

export interface PartitionStores {
  /** Opens or creates the store. A store that cannot be opened is wiped and opened empty, `wiped` says why. */
  open(partition: number): Promise<{ store: PartitionStore; wiped: string | undefined }>
  /** Partitions with files. */
  held(): Promise<number[]>
  /** Deletes the files of a closed store. */
  wipe(partition: number): Promise<void>
}
