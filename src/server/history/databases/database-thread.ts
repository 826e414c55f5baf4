/** The thread of the database. SQLite blocks, and statements with thousands of values take time, so neither is on the event loop of the process. */
import { workerData } from 'node:worker_threads'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { answerCalls } from '../../../ground/process/index.ts'
import { DatabaseStore, type StoreCall } from './history-store.ts'
import type { Origin } from './migrations.ts'
import type { Database } from './sql.ts'

export type DatabasePlace = { path: string } | { url: string }

export interface WorkerData {
  place: DatabasePlace
  origin: Origin
}

const { place, origin } = workerData as WorkerData
const store = new DatabaseStore(open, origin, { steadyMs: () => performance.now() })
// The one connection to SQLite does one thing after another: no statement comes into the transaction of others.
answerCalls(answer, { isInTurn: 'path' in place })

async function open(): Promise<Database> {
  if ('path' in place) return (await import('./sqlite.ts')).openSqlite(place.path)
  return (await import('./postgres.ts')).openPostgres(place.url)
}

/** An error of the database itself says only what it is, such as "disk I/O error". */
async function answer(call: string, args: never[]): Promise<unknown> {
  const method = store[call as StoreCall | 'close'] as (...given: never[]) => Promise<unknown>
  return method.apply(store, args).catch((error: unknown) => {
    throw error instanceof DuelogError ? error : new DuelogError('not-ready', messageOf(error), { cause: error })
  })
}
