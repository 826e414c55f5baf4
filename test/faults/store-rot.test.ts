/** Damage in a store that its opening does not reveal. It is found later, and must not stop the partition forever. */
import { cp, stat, truncate } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import type { PartitionStores } from '../../src/ground/ports/store.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { temporaryFolder } from './harness.ts'
import { filesIn, flip } from './store-damage.ts'

const everything = { from: Buffer.from('M'), to: Buffer.from('U'), limit: 100_000 }
const entry = (life: number, index: number) => ({ key: Buffer.from(`S${index}-${life}`), value: Buffer.alloc(300, index) })

/**
 * A store with this many tables. All blocks of each are damaged but the first. With four tables or more, an open compacts them.
 */
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

test('a store that cannot be read completely is reported, and opened empty', async (context) => {
  const stores = await damaged(await temporaryFolder(context), 2)
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

test('a store that refuses all writes is wiped within a few openings', async (context) => {
  // The next open writes the fourth table, which starts a compaction. It reads the tables, fails, and makes RocksDB refuse
  // writes.
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

test('a store that is open elsewhere is refused with its name, and never wiped', async (context) => {
  const folder = await temporaryFolder(context)
  const { store } = await rocksStores(folder).open(0)
  await store.apply([entry(0, 0)])
  await expect(rocksStores(folder).open(0)).rejects.toThrow(/partition-0 is open in another process.*DUELOG_DATA_DIR/)
  expect(await store.scan(everything)).toHaveLength(1)
  await store.close()
})

test('a store whose list of files was truncated has no hole: it is complete up to some write, or wiped', async (context) => {
  const folder = await temporaryFolder(context)
  const original = join(folder, 'original')
  for (let life = 0; life < 3; life++) {
    const { store } = await rocksStores(original).open(0)
    for (let index = 0; index < 50; index++) await store.apply([entry(life, index), position(life * 50 + index + 1)])
    await store.close()
  }
  const seen = new Set<string>()
  for (const pattern of [/MANIFEST/, /\.log$/, /CURRENT/, /\.sst$/]) {
    for (const file of (await filesIn(original)).filter((name) => pattern.test(name))) {
      const { size } = await stat(file)
      for (let length = 0; length <= size; length += Math.ceil(size / 12)) {
        const copy = join(folder, `${basename(file)}-${length}`)
        await cp(original, copy, { recursive: true })
        await truncate(file.replace(original, copy), length)
        const { store, wiped } = await rocksStores(copy).open(0)
        const [written] = await store.get([position(0).key])
        const entries = await store.scan({ from: Buffer.from('S'), to: Buffer.from('T'), limit: 1_000, keysOnly: true })
        await store.close()
        expect({ file, length, entries: entries.length }).toEqual({ file, length, entries: Number(written ?? 0) })
        seen.add(wiped === undefined ? 'whole' : 'wiped')
      }
    }
  }
  expect([...seen].sort()).toEqual(['whole', 'wiped'])
})

const position = (count: number) => ({ key: Buffer.from('Mcount'), value: Buffer.from(String(count)) })

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
