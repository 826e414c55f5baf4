/** A store keeps nothing of what was read from it: the system does, and gives it back. */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import RocksDB from 'rocksdb-native'
import { expect, onTestFinished, test } from 'vitest'
import { fill } from '../../bench/cases/stores.ts'
import { pathOf, rocksStores, tableOptions } from '../../src/log/store/rocks-store.ts'

test('reading a store of 40 MB fills no permanent cache of 32 MB in the process', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-memory-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const script = fileURLToPath(new URL('store-reader.ts', import.meta.url))
  const run = (how: string) => promisify(execFile)(process.execPath, ['--expose-gc', script, folder, how])
  await run('write')
  const { stdout } = await run('read')
  const { beforeMb, afterMb } = JSON.parse(stdout) as { beforeMb: number; afterMb: number }
  expect(afterMb - beforeMb).toBeLessThan(30)
}, 120_000)

test('an open store holds at most 2.4 bytes for each key', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-tables-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const { store } = await rocksStores(folder).open(0)
  const keys = 20_000
  await fill(store, keys)
  await store.compact(Buffer.of(0), Buffer.of(255))
  await store.close()
  const db = new RocksDB(pathOf(folder, 0), { ...tableOptions, readOnly: true, maxOpenFiles: -1 })
  await db.ready()
  const bytes = Number(await db.getProperty('rocksdb.estimate-table-readers-mem'))
  await db.close()
  expect(bytes / keys).toBeLessThan(2.4)
})
