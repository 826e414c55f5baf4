/** The partition store over RocksDB. */
export { rocksStores } from './rocks-store.ts'
