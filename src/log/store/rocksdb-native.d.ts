/** Types for the used part of rocksdb-native, because the package has none. From its source, version 3.18.1. */
declare module 'rocksdb-native' {
  interface ReadBatch {
    get(key: Buffer): Promise<Buffer | null>
    tryFlush(): void
  }
  interface WriteBatch {
    tryPut(key: Buffer, value: Buffer): void
    tryDelete(key: Buffer): void
    flush(): Promise<void>
  }
  interface Range {
    gte?: Buffer
    lt?: Buffer
  }
  /** A stream in the manner of streamx: it ends, or breaks, and then closes. */
  interface Entries {
    on(event: 'data', listener: (entry: { key: Buffer; value: Buffer | null }) => void): this
    on(event: 'close', listener: () => void): this
    on(event: 'error', listener: (error: Error) => void): this
    destroy(): void
  }
  export class BloomFilterPolicy {
    constructor(bitsPerKey: number)
  }
  export default class RocksDB {
    constructor(
      path: string,
      options?: {
        writeBufferSize?: number
        maxBackgroundJobs?: number
        maxOpenFiles?: number
        readOnly?: boolean
        /** False: no block cache, so index and filter blocks cannot be in it. */
        blockCache?: boolean
        tableCacheIndexAndFilterBlocks?: boolean
        /** Default: a Bloom filter of 10 bits for each key. */
        filterPolicy?: BloomFilterPolicy
        enableBlobFiles?: boolean
        minBlobSize?: number
        blobFileSize?: number
        blobGarbageCollectionForceThreshold?: number
      },
    )
    ready(): Promise<void>
    read(options: { capacity: number; autoDestroy: true }): ReadBatch
    write(options: { capacity: number; autoDestroy: true }): WriteBatch
    iterator(range: Range, options: { limit: number; capacity: number; values: boolean }): Entries
    compactRange(from: Buffer, to: Buffer): Promise<void>
    approximateSize(from: Buffer, to: Buffer, options?: { includeMemtables?: boolean }): Promise<number>
    getProperty(name: string): Promise<string>
    close(): Promise<void>
  }
}
