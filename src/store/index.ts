/** The partition store over RocksDB. */
export { reasonOf, rocksStores } from './rocks-store.ts'
