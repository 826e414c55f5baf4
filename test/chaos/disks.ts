/** Disks that are small enough to fill: file systems in memory, mounted in the namespace of the drill. They disappear with it. */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Network } from './network/network.ts'
import type { Place } from './places.ts'

const run = promisify(execFile)

/** Where the data of a place is, and how large its disk is. */
const disks: readonly { place: Place; data: string; megabytes: number }[] = [
  { place: 'broker-3', data: 'log', megabytes: 2_048 },
  { place: 'scheduler-3', data: 'data', megabytes: 512 },
]

/** The folders that are disks of their own. None if mounts would outlive the drill. */
export async function mountDisks(network: Network, folder: string): Promise<Map<Place, string>> {
  const mounted = new Map<Place, string>()
  if (network.kind !== 'namespaces') return mounted
  for (const { place, data, megabytes } of disks) {
    const path = join(folder, place, data)
    await mkdir(path, { recursive: true })
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path])
    mounted.set(place, path)
  }
  return mounted
}
