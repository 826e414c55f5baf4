/** stores: the memory of a process while it owns 12 stores, after it closed 8 of them (twice), and after it closed all. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { PartitionStore } from '../../src/ground/ports/store.ts'
import { rocksStores } from '../../src/log/store/rocks-store.ts'
import { boundMalloc } from '../../src/program/cli/memory.ts'
import { stateKey } from '../../streams/state/keys.ts'

const [storesMax, staying] = [12, 4]
const valueBytes = 400
/** V8 keeps the pages of an empty heap until it has been idle for some seconds. */
const restMs = 20_000
const [writtenTogether, readTogether] = [1_000, 64]

/**
 * `n`: jobs of each store. Figures are RSS in MB, each after a garbage collection, because V8 decides when it collects. The
 * benchmark starts itself again with the malloc settings of the program.
 */
export async function stores(_bed: unknown, n = 40_000): Promise<Record<string, number>> {
  boundMalloc()
  const folder = await mkdtemp(join(tmpdir(), 'duelog-stores-'))
  const { open } = rocksStores(folder)
  const opened = new Map<number, PartitionStore>()
  const gain = async (from: number): Promise<void> => {
    for (let partition = from; partition < storesMax; partition++) opened.set(partition, (await open(partition)).store)
  }
  const lose = async (from: number): Promise<void> => {
    for (let partition = from; partition < storesMax; partition++) await opened.get(partition)?.close()
  }
  try {
    const startMb = residentMb()
    await gain(0)
    for (const store of opened.values()) await fill(store, n)
    for (const store of opened.values()) await readAll(store, n)
    const peakMb = residentMb()
    await lose(staying)
    const lostMb = residentMb()
    await gain(staying)
    for (const store of opened.values()) await readAll(store, n)
    const againMb = residentMb()
    await lose(0)
    const closedMb = residentMb()
    await wait(restMs)
    return { startMb, peakMb, lostMb, againMb, closedMb, restedMb: residentMb() }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function residentMb(): number {
  collect()
  return Math.round(process.memoryUsage.rss() / 1e6)
}
const keyOf = (job: number): Buffer => stateKey(`job-${String(job).padStart(9, '0')}`)
const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index)

export async function fill(store: PartitionStore, n: number): Promise<void> {
  for (let first = 0; first < n; first += writtenTogether)
    await store.apply(
      upTo(writtenTogether).map((place) => ({ key: keyOf(first + place), value: Buffer.alloc(valueBytes, String(place)) })),
    )
}

export async function readAll(store: PartitionStore, n: number): Promise<void> {
  for (let first = 0; first < n; first += readTogether)
    await store.get(upTo(readTogether).map((place) => keyOf((first + place) % n)))
}
