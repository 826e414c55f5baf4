/** A disk that does not let a store be opened says nothing of what is in it. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { rocksStores } from '../../src/log/store/rocks-store.ts'

test('a store keeps its content when the disk allows it to be opened again', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-store-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const lock = join(folder, 'partition-0', 'LOCK')
  const stores = rocksStores(folder)
  const key = Buffer.from('a')
  const { store: before } = await stores.open(0)
  await before.apply([{ key, value: key }])
  await before.close()
  await rm(lock)
  await mkdir(lock)
  await expect(stores.open(0)).rejects.toMatchObject({
    ...{
      code: 'not-ready',
      message: expect.stringMatching(/partition-0 cannot be opened: .*Look at the disk of DUELOG_DATA_DIR/),
    },
  })
  await rm(lock, { recursive: true })
  const { store: after } = await stores.open(0)
  expect(await after.get([key])).toEqual([key])
  await after.close()
})
