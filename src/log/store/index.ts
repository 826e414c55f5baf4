/** The partition store over RocksDB. */
export { readingRocks } from './rocks-reader.ts'
export { reasonOf, rocksStores } from './rocks-store.ts'
