/** Faults of the stores of an owner while its process is down: flipped bytes, truncated files, deleted files. */
import { cp, open, readdir, rm, stat, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { last, type Stage } from '../stage.ts'
import type { Fault } from './fault.ts'
import { anyOwner } from './owners.ts'

const absentMs = 5_000

/** Kills an owner with kill −9, damages each of its stores while it is down, and starts it again. */
function storeFault(name: string, what: string, damage: (store: string, random: () => number) => Promise<number>): Fault {
  return {
    name,
    what: `kill −9 of an owner; while it is away, ${what} in each of its stores; it is started again after ${absentMs / 1000} s`,
    async run(stage: Stage) {
      const owner = stage.system.schedulers[anyOwner(stage)]
      await owner.kill()
      const stores = join(owner.folder, 'data', 'scheduler')
      let damaged = 0
      for (const store of (await readdir(stores)).sort()) damaged += await damage(join(stores, store), stage.random)
      stage.say(`${owner.title}: ${damaged} files damaged`)
      await last(stage, absentMs)
      await owner.start()
      if (damaged === 0) throw new Error('there was no such file to damage')
    },
  }
}

const files = async (store: string, pattern: RegExp): Promise<string[]> =>
  (await readdir(store)).filter((name) => pattern.test(name)).map((name) => join(store, name))

/** Flips all bits of 16 bytes somewhere in the file. */
async function flip(file: string, random: () => number): Promise<void> {
  const { size } = await stat(file)
  if (size === 0) return
  const at = Math.floor(random() * Math.max(1, size - 16))
  const handle = await open(file, 'r+')
  try {
    const bytes = Buffer.alloc(Math.min(16, size))
    await handle.read(bytes, 0, bytes.length, at)
    await handle.write(
      bytes.map((byte) => ~byte),
      0,
      bytes.length,
      at,
    )
  } finally {
    await handle.close()
  }
}

async function flipAll(paths: readonly string[], random: () => number): Promise<number> {
  for (const path of paths) await flip(path, random)
  return paths.length
}

export const corruptedTable = storeFault('store-sst', 'bytes are turned in every SST', async (store, random) =>
  flipAll(await files(store, /\.sst$/), random),
)

export const corruptedLog = storeFault(
  'store-wal',
  'bytes are turned in the write-ahead log, and its end is cut off',
  async (store, random) => {
    const logs = await files(store, /^\d+\.log$/)
    await flipAll(logs, random)
    for (const log of logs) await truncate(log, Math.floor((await stat(log)).size * 0.9))
    return logs.length
  },
)

export const corruptedManifest = storeFault('store-manifest', 'bytes are turned in the MANIFEST', async (store, random) =>
  flipAll(await files(store, /^MANIFEST-/), random),
)

export const lostManifest = storeFault('store-manifest-lost', 'the MANIFEST is deleted', async (store) => {
  const found = await files(store, /^MANIFEST-/)
  for (const path of found) await rm(path)
  return found.length
})

export const wipedStore = storeFault('store-wiped', 'everything is deleted', async (store) => {
  await rm(store, { recursive: true })
  return 1
})

/** An older copy of each store is put back, as from a backup of the disk. */
export const staleStore: Fault = {
  name: 'store-stale',
  what: 'an owner is stopped and its stores are copied; 20 s after its start it is killed, and gets the copies back',
  async run(stage) {
    const owner = stage.system.schedulers[anyOwner(stage)]
    const stores = join(owner.folder, 'data', 'scheduler')
    const copies = join(owner.folder, 'copies')
    await owner.terminate()
    await cp(stores, copies, { recursive: true })
    await owner.start()
    await last(stage, 20_000)
    await owner.kill()
    for (const store of await readdir(stores)) await rm(join(stores, store), { recursive: true })
    await cp(copies, stores, { recursive: true })
    await rm(copies, { recursive: true })
    await owner.start()
  },
}
