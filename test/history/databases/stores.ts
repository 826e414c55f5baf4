/** Stores of the history for tests, in folders and databases of their own. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { type PostgresServer, startPostgresServer } from '../../../bench/tools/postgres-server.ts'
import { systemClock } from '../../../src/ground/clock/clock.ts'
import type { DatabasePlace } from '../../../src/server/history/databases/database-thread.ts'
import type { HistoryStore } from '../../../src/server/history/databases/history-store.ts'
import type { Origin } from '../../../src/server/history/databases/migrations.ts'
import { threadStore } from '../../../src/server/history/databases/thread-store.ts'

export const origin: Origin = { topic: 'test.runs', clusterId: 'cluster-1' }

/** A place for one database, which tests may open again and again. */
export interface StorePlace {
  open(of?: Origin): HistoryStore
  /** Statements of the database itself, while no store is open. */
  run(statements: readonly string[]): Promise<void>
}

/** One PostgreSQL for all tests of a file; each of them gets a database of its own. */
export function postgresOfThisFile(): {
  place(): Promise<StorePlace & { url: string; value(sql: string): Promise<string> }>
  create(name: string): Promise<string | undefined>
} {
  let server: PostgresServer | undefined
  let folder = ''
  let databases = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'duelog-postgres-'))
    server = await startPostgresServer(folder)
    if (server === undefined) throw new Error('These tests need PostgreSQL: apt-get install postgresql.')
  }, 60_000)
  afterAll(async () => {
    await server?.stop()
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  })
  return {
    create: async (name) => server?.create(name),
    async place() {
      const name = `place_${++databases}`
      const url = (await server?.create(name)) ?? ''
      const run = async (statements: readonly string[]) => void (await server?.value(statements.join('; '), name))
      const value = async (sql: string): Promise<string> => (await server?.value(sql, name)) ?? ''
      return { url, run, value, open: (of = origin) => opened({ url }, of) }
    },
  }
}

function opened(place: DatabasePlace, of: Origin): HistoryStore {
  const store = threadStore(place, of, systemClock)
  onTestFinished(() => store.close())
  return store
}

export async function sqlitePlace(): Promise<StorePlace & { path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'duelog-history-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const path = join(folder, 'history', 'runs.sqlite')
  const run = async (statements: readonly string[]): Promise<void> => {
    const database = new DatabaseSync(path)
    database.exec(statements.join('; '))
    database.close()
  }
  return { path, run, open: (of = origin) => opened({ path }, of) }
}
