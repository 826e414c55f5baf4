/** The thread of the SQLite file. It does one call after another, so that no call blocks the event loop of the process. */
import { parentPort, workerData } from 'node:worker_threads'
import { DuelogError, messageOf } from '../../errors/index.ts'
import { DatabaseStore, type StoreCall } from './history-store.ts'
import type { Origin } from './migrations.ts'
import { openSqlite } from './sqlite.ts'

export interface WorkerData {
  path: string
  origin: Origin
}

export interface Call {
  id: number
  call: StoreCall | 'close'
  args: unknown[]
}

export type Reply = { id: number } & ({ result: unknown } | { error: { code: string | undefined; message: string } })

const { path, origin } = workerData as WorkerData
const store = new DatabaseStore(async () => openSqlite(path), origin, { steadyMs: () => performance.now() })
let last: Promise<void> = Promise.resolve()

parentPort?.on('message', ({ id, call, args }: Call) => {
  last = last.then(async () => {
    const answer = (reply: Reply): void => parentPort?.postMessage(reply)
    try {
      const method = store[call] as (...given: unknown[]) => Promise<unknown>
      answer({ id, result: await method.apply(store, args) })
    } catch (error) {
      answer({ id, error: { code: error instanceof DuelogError ? error.code : undefined, message: messageOf(error) } })
    }
  })
})
