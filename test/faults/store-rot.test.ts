/** Damage in a store that its opening does not show: it comes to light later, and must not stop the partition for ever. */
import { stat } from 'node:fs/promises'
import { expect, test } from 'vitest'
import type { PartitionStores } from '../../src/scheduler/ports.ts'
import { rocksStores } from '../../src/store/rocks-store.ts'
import { temporaryFolder } from './harness.ts'
import { filesIn, flip } from './store-damage.ts'

const everything = { from: Buffer.of(0), to: Buffer.of(255), limit: 100_000 }
const entry = (life: number, index: number) => ({ key: Buffer.from(`S${index}-${life}`), value: Buffer.alloc(300, index) })

/** A store of several tables, all but the first block of each of them damaged. */
async function damaged(folder: string, lives: number): Promise<PartitionStores> {
  for (let life = 0; life < lives; life++) {
    const { store } = await rocksStores(folder).open(0)
    for (let index = 0; index < 400; index++) await store.apply([entry(life, index)])
    await store.close()
  }
  const tables = (await filesIn(folder)).filter((file) => file.endsWith('.sst'))
  expect(tables.length).toBeGreaterThan(0)
  for (const table of tables) {
    const { size } = await stat(table)
    for (let at = 9_000; at < size - 4_000; at += 500) await flip(table, at)
  }
  return rocksStores(folder)
}

test('a store that cannot be read through is opened anew and empty after it said so', async (context) => {
  const stores = await damaged(await temporaryFolder(context), 4)
  const first = await stores.open(0)
  expect(first.wiped).toBeUndefined()
  await expect(first.store.scan(everything)).rejects.toThrow()
  await first.store.close()
  const second = await stores.open(0)
  expect(second.wiped).toMatch(/checksum/)
  expect(await second.store.scan(everything)).toEqual([])
  await second.store.apply([entry(9, 9)])
  await second.store.close()
  const third = await stores.open(0)
  expect(third.wiped).toBeUndefined()
  expect(await third.store.scan(everything)).toHaveLength(1)
  await third.store.close()
})

test('a store that takes no writes any more is wiped within a few openings', async (context) => {
  // The fourth table, which the next open writes, has them compacted: that reads them, fails, and makes RocksDB refuse writes.
  const stores = await damaged(await temporaryFolder(context), 4)
  let wiped: string | undefined
  for (let opening = 0; opening < 5 && wiped === undefined; opening++) {
    const opened = await stores.open(0)
    wiped = opened.wiped
    const { store } = opened
    if (wiped === undefined) {
      const refusal = await refused(() => store.apply([entry(9, 9)]))
      expect(refusal).toBeInstanceOf(Error)
    }
    await store.close()
  }
  expect(wiped).toBeDefined()
})

/** Repeats the write until it is refused. */
async function refused(write: () => Promise<void>): Promise<unknown> {
  for (let times = 0; times < 20_000; times++) {
    try {
      await write()
    } catch (error) {
      return error
    }
  }
  return undefined
}
