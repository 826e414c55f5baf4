/**
 * A second look at a store that another thread has open, for one task: read-only, as it is at this moment. It takes some milliseconds and
 * no lock. RocksDB reads the list of tables and then the write-ahead logs, so what was applied before is there.
 */
import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import RocksDB from 'rocksdb-native'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { StoreReader } from '../../ground/ports/index.ts'
import { pathOf, readerOf, reasonOf, tableOptions } from './rocks-store.ts'

/** The owner replaces a file some times a minute at most. */
const triesMax = 5

/** What RocksDB says about the files. Only this can be otherwise when the store is opened again. */
class FilesError extends Error {}

/**
 * `folder`: that of `rocksStores`. If a file is missing, the task is begun again. Its own errors are thrown; `not-ready` if the store
 * cannot be read.
 */
export async function readingRocks<Answer>(
  folder: string,
  partition: number,
  task: (store: StoreReader) => Promise<Answer>,
): Promise<Answer> {
  const path = pathOf(folder, partition)
  for (let tries = 1; ; tries++) {
    try {
      const store = await ofFiles(opened(path))
      try {
        return await task({ get: (keys) => ofFiles(store.get(keys)), scan: (options) => ofFiles(store.scan(options)) })
      } finally {
        await store.close()
      }
    } catch (error) {
      if (!(error instanceof FilesError)) throw error
      if (tries >= triesMax) throw unread(partition, error.cause)
    }
  }
}

const ofFiles = <Value>(reading: Promise<Value>): Promise<Value> =>
  reading.catch((cause: unknown) => {
    throw new FilesError(messageOf(cause), { cause })
  })

const unread = (partition: number, cause: unknown): DuelogError =>
  new DuelogError('not-ready', `The store of partition ${partition} cannot be read: ${reasonOf(cause)}; try again shortly.`, {
    cause,
  })

/**
 * Rejects if the list of tables changed meanwhile. A log whose entries had come into a new table may have been deleted between the two
 * readings, and its entries would be missing.
 */
async function opened(path: string): Promise<StoreReader & { close(): Promise<void> }> {
  const before = await tablesOf(path)
  // All files are opened at once, so none is missing later because a compaction has deleted it.
  const db = new RocksDB(path, { ...tableOptions, readOnly: true, maxOpenFiles: -1 })
  await db.ready()
  try {
    if ((await tablesOf(path)) !== before) throw new Error('its files change all the time')
  } catch (error) {
    await db.close()
    throw error
  }
  return { ...readerOf(db), close: () => db.close() }
}

/** Changes with each table that is added or deleted. */
async function tablesOf(path: string): Promise<string> {
  const name = (await readFile(join(path, 'CURRENT'), 'utf8')).trim()
  return `${name} ${(await stat(join(path, name))).size}`
}
