/** The history from the thread of the process: hands each call to the thread of the database. */
import { Worker } from 'node:worker_threads'
import type { Clock } from '../../clock/index.ts'
import { DuelogError, type ErrorCode } from '../../errors/index.ts'
import type { HandlerFigures, HistoryCounts, HistoryFilter, HistoryPage } from '../../ports/index.ts'
import { modulePath } from '../../process/index.ts'
import type { DatabasePlace, Reply, WorkerData } from './database-thread.ts'
import type { HistoryStore, StoreCall } from './history-store.ts'
import type { Origin } from './migrations.ts'
import type { RunRow } from './rows.ts'
import type { WrittenBatch } from './writes.ts'

/** After this time a call is given up. Searches end by themselves long before. */
const callMsMax = 30_000
/** How long a stop waits for a call in progress. What is not written is read again. */
const closeMsMax = 3_000
/** Memory of the thread for objects of JavaScript, in MB; the caches of the databases come in addition. */
const heapMb = 192
/** Calls that wait for the thread. */
const callsMax = 64

interface Open {
  resolve(result: unknown): void
  reject(error: Error): void
  cancelTimer(): void
}

export class ThreadStore implements HistoryStore {
  readonly #place: DatabasePlace
  readonly #origin: Origin
  readonly #clock: Clock
  #worker: Worker | undefined
  readonly #calls = new Map<number, Open>()
  #id = 0
  #isClosed = false

  /** `place`: a SQLite file, or the URL of a PostgreSQL database. */
  constructor(place: DatabasePlace, origin: Origin, clock: Clock) {
    this.#place = place
    this.#origin = origin
    this.#clock = clock
  }

  positions(): Promise<Map<number, number>> {
    return this.#call('positions')
  }

  write(partition: number, next: number, rows: readonly RunRow[], known?: number): Promise<WrittenBatch> {
    return this.#call('write', partition, next, rows, known)
  }

  removeOld(beforeMs: number, limit: number): Promise<number> {
    return this.#call('removeOld', beforeMs, limit)
  }

  fill(limit: number): Promise<boolean> {
    return this.#call('fill', limit)
  }

  async page(filter: HistoryFilter, limit: number, before: string | null): Promise<HistoryPage> {
    const page: HistoryPage = await this.#call('page', filter, limit, before)
    // A Buffer is a plain array of bytes after its way between threads.
    return {
      ...page,
      runs: page.runs.map((run) => ({ ...run, result: run.result === null ? null : Buffer.from(run.result) })),
    }
  }

  counts(filter: HistoryFilter & { from: number; to: number }, bucketMs: number): Promise<HistoryCounts> {
    return this.#call('counts', filter, bucketMs)
  }

  handlers(from: number, to: number): Promise<HandlerFigures[]> {
    return this.#call('handlers', from, to)
  }

  async close(): Promise<void> {
    const worker = this.#worker
    const closing = worker === undefined ? undefined : this.#call('close').catch(() => undefined)
    this.#isClosed = true
    if (worker === undefined) return
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const cancelTimer = this.#clock.at(this.#clock.nowMs() + closeMsMax, resolve)
    await Promise.race([closing, late])
    cancelTimer()
    await worker.terminate()
  }

  #call<Result>(call: StoreCall | 'close', ...args: unknown[]): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new DuelogError('not-ready', 'This process is stopping.'))
    if (this.#calls.size >= callsMax)
      return Promise.reject(new DuelogError('overloaded', 'The database of the history is busy; ask again later.'))
    this.#worker ??= this.#started()
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      const late = new DuelogError('overloaded', `The database of the history did not answer within ${callMsMax / 1_000} s.`)
      const cancelTimer = this.#clock.at(this.#clock.nowMs() + callMsMax, () => this.#take(id)?.reject(late))
      this.#calls.set(id, { resolve: resolve as (result: unknown) => void, reject, cancelTimer })
      this.#worker?.postMessage({ id, call, args })
    })
  }

  #started(): Worker {
    const worker = new Worker(modulePath('./database-thread', import.meta.url), {
      workerData: { place: this.#place, origin: this.#origin } satisfies WorkerData,
      name: 'history',
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    worker.on('message', (reply: Reply) => {
      const call = this.#take(reply.id)
      if ('result' in reply) call?.resolve(reply.result)
      else call?.reject(errorOf(reply.error))
    })
    const ended = (error: Error): void => {
      if (this.#worker === worker) this.#worker = undefined
      for (const id of [...this.#calls.keys()]) this.#take(id)?.reject(error)
    }
    worker.on('error', (error) => ended(new DuelogError('internal', `The thread of the history has ended: ${error.message}`)))
    worker.on('exit', () => ended(new DuelogError('not-ready', 'The thread of the history has ended.')))
    return worker
  }

  #take(id: number): Open | undefined {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    call?.cancelTimer()
    return call
  }
}

/** An error of SQLite itself says only what it is, such as "disk I/O error". */
function errorOf({ code, message }: { code: string | undefined; message: string }): DuelogError {
  return new DuelogError((code as ErrorCode | undefined) ?? 'not-ready', message)
}
