/** What a store keeps of itself, to notice that something of it is gone. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ScanOptions } from '../../src/ground/ports/store.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'duelog-links-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('internal records of a store are not found by scans; deleting all found entries leaves a valid store', async () => {
  const stores = rocksStores(folder)
  const everything = { from: Buffer.of(0), to: Buffer.of(0xff) }
  const { store } = await stores.open(0)
  expect(await store.scan({ ...everything, limit: 10 })).toEqual([])
  const [before, behind] = [Buffer.of(0x41, 1), Buffer.of(0x4d, 1)]
  await store.apply([before, behind].map((each) => ({ key: each, value: Buffer.alloc(10) })))
  const keysOf = async (more: Partial<ScanOptions>): Promise<Buffer[]> =>
    (await store.scan({ ...everything, limit: 10, ...more })).map((entry) => entry.key)
  expect(await keysOf({})).toEqual([before, behind])
  expect(await keysOf({ limit: 1 })).toEqual([before])
  expect(await keysOf({ bytesMax: 12 })).toEqual([before])
  expect(await keysOf({ bytesMax: 13 })).toEqual([before, behind])
  expect(await keysOf({ from: Buffer.of(0x4c, 0) })).toEqual([behind])
  expect(await keysOf({ to: Buffer.of(0x4c, 1) })).toEqual([before])
  expect(await keysOf({ from: Buffer.of(0x4c, 0), to: Buffer.of(0x4c, 1) })).toEqual([])
  for (const { key: found } of await store.scan({ ...everything, limit: 10 })) await store.apply([{ key: found, value: null }])
  // Enough for the next mark.
  const large = Buffer.of(0x4d, 2)
  await store.apply([{ key: large, value: Buffer.alloc(2_000_000) }])
  await store.close()
  const again = await stores.open(0)
  expect(again.wiped).toBeUndefined()
  expect(await again.store.get([large])).not.toContain(null)
  await again.store.close()
})
