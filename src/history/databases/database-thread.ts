/** The thread of the database. SQLite blocks, and statements with thousands of values take time, so neither is on the event loop of the process. */
import { parentPort, workerData } from 'node:worker_threads'
import { DuelogError, messageOf } from '../../errors/index.ts'
import { DatabaseStore, type StoreCall } from './history-store.ts'
import type { Origin } from './migrations.ts'
import type { Database } from './sql.ts'

export type DatabasePlace = { path: string } | { url: string }

export interface WorkerData {
  place: DatabasePlace
  origin: Origin
}

export interface Call {
  id: number
  call: StoreCall | 'close'
  args: unknown[]
}

export type Reply = { id: number } & ({ result: unknown } | { error: { code: string | undefined; message: string } })

const { place, origin } = workerData as WorkerData
const store = new DatabaseStore(open, origin, { steadyMs: () => performance.now() })
let last: Promise<void> = Promise.resolve()

parentPort?.on('message', (asked: Call) => {
  // The one connection to SQLite does one thing after another: no statement comes into the transaction of others.
  if ('path' in place) last = last.then(() => answer(asked))
  else void answer(asked)
})

async function open(): Promise<Database> {
  if ('path' in place) return (await import('./sqlite.ts')).openSqlite(place.path)
  return (await import('./postgres.ts')).openPostgres(place.url)
}

async function answer({ id, call, args }: Call): Promise<void> {
  const reply = (given: Reply): void => parentPort?.postMessage(given)
  try {
    const method = store[call] as (...given: unknown[]) => Promise<unknown>
    reply({ id, result: await method.apply(store, args) })
  } catch (error) {
    reply({ id, error: { code: error instanceof DuelogError ? error.code : undefined, message: messageOf(error) } })
  }
}
