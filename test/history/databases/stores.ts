/** Stores of the history for tests, in folders and databases of their own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { systemClock } from '../../../src/clock/clock.ts'
import type { HistoryStore } from '../../../src/history/databases/history-store.ts'
import type { Origin } from '../../../src/history/databases/migrations.ts'
import { SqliteStore } from '../../../src/history/databases/sqlite-store.ts'

export const origin: Origin = { topic: 'test.runs', clusterId: 'cluster-1' }

/** A place for one database, which tests may open again and again. */
export interface StorePlace {
  open(of?: Origin): HistoryStore
}

export async function sqlitePlace(): Promise<StorePlace & { path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-history-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'history', 'runs.sqlite')
  return {
    path,
    open(of = origin) {
      const store = new SqliteStore(path, of, systemClock)
      onTestFinished(() => store.close())
      return store
    },
  }
}
