/**
 * Searches through the stores of a scheduler in a thread of their own, so that none delays a run. The thread is started by the first search
 * and ends some minutes after the last one, and with it what it remembers.
 */
import { deserialize, serialize } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../clock/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { CodecsSeed } from '../kafka/index.ts'
import type { DeadRuns, DeadRunsQuery, ListedJobs, ListQuery, StoreSearch, StoreSearches } from '../ports/index.ts'
import { modulePath } from '../process/index.ts'
import type { FromThread, SearchThreadData, ThreadError, ToThread } from './search-thread.ts'

/** After this time a search is given up, and the thread with it, because it may hang. One takes a second at most. */
const searchMsMax = 30_000
/** The thread ends after this time without a search. A dashboard asks once a minute. */
const idleMs = 120_000
/** Memory of the thread for objects of JavaScript, in MB; the ids of its indexes come in addition. */
const heapMb = 192

interface Open {
  resolve(result: unknown): void
  reject(reason: unknown): void
  end(): void
}

export interface ThreadSearchesOptions {
  /** That of `rocksStores`. */
  folder: string
  seed: CodecsSeed
  clock: Pick<Clock, 'nowMs' | 'at'>
}

export class ThreadSearches implements StoreSearches {
  readonly #options: ThreadSearchesOptions
  readonly #open = new Map<number, Open>()
  #worker: Worker | undefined
  #cancelIdle = (): void => {}
  #id = 0
  #isStopped = false

  constructor(options: ThreadSearchesOptions) {
    this.#options = options
  }

  list(search: StoreSearch<ListQuery>, signal?: AbortSignal): Promise<ListedJobs> {
    return this.#ask('list', search, signal)
  }

  deadRuns(search: StoreSearch<DeadRunsQuery>, signal?: AbortSignal): Promise<DeadRuns> {
    return this.#ask('deadRuns', search, signal)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelIdle()
    await this.#worker?.terminate()
  }

  #ask<Result>(call: keyof StoreSearches, search: unknown, signal: AbortSignal | undefined): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new DuelogError('not-ready', 'This process is stopping.'))
    this.#cancelIdle()
    this.#worker ??= this.#started()
    const worker = this.#worker
    const { clock } = this.#options
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      const giveUp = (reason: unknown): void => {
        worker.postMessage({ id, isGone: true } satisfies ToThread)
        this.#take(id)?.reject(reason)
      }
      const aborted = (): void => giveUp(signal?.reason)
      const late = new DuelogError('overloaded', `A search did not end within ${searchMsMax / 1_000} s; ask again later.`)
      const cancelTimer = clock.at(clock.nowMs() + searchMsMax, () => {
        giveUp(late)
        void worker.terminate()
      })
      const end = (): void => {
        cancelTimer()
        signal?.removeEventListener('abort', aborted)
      }
      this.#open.set(id, { resolve: resolve as (result: unknown) => void, reject, end })
      signal?.addEventListener('abort', aborted)
      // Also if nobody wants the answer any more: the thread must learn what was written.
      worker.postMessage({ id, call, search: serialize(search) } satisfies ToThread)
      if (signal?.aborted) aborted()
    })
  }

  #started(): Worker {
    const { folder, seed } = this.#options
    const worker = new Worker(modulePath('./search-thread', import.meta.url), {
      workerData: { folder, ids: seed.ids } satisfies SearchThreadData,
      name: 'searches',
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    })
    // A search keeps no process from its end.
    worker.unref()
    worker.on('message', (message: FromThread) => {
      if ('schemaId' in message) return void this.#tellSchema(worker, message.schemaId)
      const search = this.#take(message.id)
      if ('result' in message) search?.resolve(deserialize(message.result))
      else search?.reject(errorOf(message.error))
    })
    const ended = (why: string): void => {
      if (this.#worker !== worker) return
      this.#worker = undefined
      const error = new DuelogError('not-ready', `The thread of the searches has ended${why}; try again shortly.`)
      for (const id of [...this.#open.keys()]) this.#take(id)?.reject(error)
    }
    worker.on('error', (error) => ended(`: ${messageOf(error)}`))
    worker.on('exit', () => ended(''))
    return worker
  }

  async #tellSchema(worker: Worker, schemaId: number): Promise<void> {
    const answer = await this.#options.seed.schemaOf(schemaId).then(
      (text): ToThread => ({ schemaId, text }),
      (error): ToThread => ({
        schemaId,
        error: { code: error instanceof DuelogError ? error.code : undefined, message: messageOf(error) },
      }),
    )
    worker.postMessage(answer)
  }

  #take(id: number): Open | undefined {
    const search = this.#open.get(id)
    this.#open.delete(id)
    search?.end()
    if (this.#open.size === 0 && !this.#isStopped) this.#endWhenIdle()
    return search
  }

  #endWhenIdle(): void {
    const { clock } = this.#options
    this.#cancelIdle()
    this.#cancelIdle = clock.at(clock.nowMs() + idleMs, () => {
      this.#worker?.postMessage('end' satisfies ToThread)
      this.#worker = undefined
    })
  }
}

const errorOf = ({ code, message }: ThreadError): DuelogError => new DuelogError(code ?? 'internal', message)
