/** A second look at a store that is open and being written: everything that was applied before is there. */
import { mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { StoreReader } from '../../src/ground/ports/store.ts'
import { readingRocks } from '../../src/log/store/rocks-reader.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'

const keyOf = (index: number): Buffer => Buffer.from(`J${String(index).padStart(8, '0')}`)

async function opened() {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-reader-'))
  const { store } = await rocksStores(folder).open(0)
  onTestFinished(async () => {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  })
  let count = 0
  /** Entries with a value of this length. */
  const write = async (many: number, bytes: number): Promise<void> => {
    await store.apply(
      Array.from({ length: many }, (_, index) => ({ key: keyOf(count + index), value: Buffer.alloc(bytes, 'x') })),
    )
    count += many
  }
  const read = <Answer>(task: (reader: StoreReader) => Promise<Answer>): Promise<Answer> => readingRocks(folder, 0, task)
  return { folder, store, write, read, written: () => count }
}

it('sees what was applied before, while its log becomes a table and is deleted', async () => {
  const { store, write, read, written } = await opened()
  for (let round = 0; round < 80; round++) {
    await write(3, 50)
    const last = [keyOf(written() - 1)]
    const reads = Array.from({ length: 4 }, () => read((reader) => reader.get(last)))
    const [seen] = await Promise.all([Promise.all(reads), store.compact(keyOf(0), keyOf(written()))])
    expect(seen.flat()).not.toContain(null)
  }
})

it('sees the store as it was at one moment', async () => {
  const { store, write, read } = await opened()
  await write(1, 100)
  const [before, after] = await read(async (reader) => {
    const found = [await reader.get([keyOf(0)])]
    await store.apply([{ key: keyOf(0), value: null }])
    return [...found, await reader.get([keyOf(0)])]
  })
  expect(before).toEqual([Buffer.alloc(100, 'x')])
  expect(after).toEqual(before)
  expect(await read((reader) => reader.get([keyOf(0)]))).toEqual([null])
})

it('begins again if a file is missing', async () => {
  const { folder, store, write, read } = await opened()
  await write(10, 20_000)
  await store.compact(keyOf(0), keyOf(10))
  const inFolder = join(folder, 'partition-0')
  const values = join(inFolder, (await readdir(inFolder)).find((name) => name.endsWith('.blob')) ?? '')
  let times = 0
  const seen = await read(async (reader) => {
    if (++times > 1) return reader.get([keyOf(1)])
    await rename(values, join(folder, 'elsewhere'))
    return reader.get([keyOf(1)]).finally(() => rename(join(folder, 'elsewhere'), values))
  })
  expect({ seen, times }).toEqual({ seen: [Buffer.alloc(20_000, 'x')], times: 2 })
})

it('does not begin again for an error of the task', async () => {
  const { write, read } = await opened()
  await write(1, 1)
  let times = 0
  const failed = read(async () => {
    times++
    throw new TypeError('a fault of the program')
  })
  await expect(failed).rejects.toThrow(TypeError)
  expect(times).toBe(1)
})

it('says that a store cannot be read', async () => {
  const { folder, read, write } = await opened()
  await write(1, 1)
  const list = join(folder, 'partition-0', (await readFile(join(folder, 'partition-0', 'CURRENT'), 'utf8')).trim())
  await writeFile(list, Buffer.alloc((await stat(list)).size, 0xff))
  const failed = read(async () => 1)
  await expect(failed).rejects.toMatchObject({ code: 'not-ready', message: expect.stringContaining('partition 0') })
  await expect(readingRocks(join(folder, 'nowhere'), 0, async () => 1)).rejects.toMatchObject({ code: 'not-ready' })
})
