/** Cache of compiled code: a second start takes a fifth less processor time. */
import { enableCompileCache, flushCompileCache } from 'node:module'
import { join } from 'node:path'
import type { startSystem } from '../../system/index.ts'

/**
 * The cache is in the data folder, which belongs to the operator: in a shared folder, anybody could plant code. Node writes it when the
 * process ends, so that nothing waits for it. If it cannot be written, the process runs without it.
 */
export async function loadSystem(dataDir: string): Promise<typeof startSystem> {
  enableCompileCache(join(dataDir, 'compiled'))
  return (await import('../../system/index.ts')).startSystem
}

/** Writes the cache now, for a process that may end by kill -9. */
export function keepCompiledCode(): void {
  flushCompileCache()
}
