/**
 * Calls into a thread of this process, and their answers. The first call starts the thread; one that dies is an error to its callers, and the
 * next call starts another. What goes there and back is serialized by node:v8, because a Buffer is a plain array of bytes after its way between
 * threads.
 */
import { deserialize, serialize } from 'node:v8'
import { parentPort, Worker } from 'node:worker_threads'
import type { Clock } from '../clock/index.ts'
import { DuelogError, type ErrorCode, messageOf } from '../errors/index.ts'

export interface ThreadError {
  /** Absent: the error is none of Duelog. */
  code: ErrorCode | undefined
  message: string
}
type ToThread = { id: number; name: string; args: Uint8Array } | { id: number; isGone: true }
type FromThread = { id: number; result: Uint8Array } | { id: number; error: ThreadError }

export interface ThreadCallsOptions {
  /** `The thread of <what> has ended`. */
  what: string
  /** By modulePath. */
  file: string
  name: string
  /** What a thread finds as its workerData when it starts. */
  dataOf?: () => unknown
  /** Memory for objects of JavaScript. */
  heapMb: number
  /** Besides, for young ones. Absent: as V8 has it. */
  youngMb?: number
  clock: Pick<Clock, 'nowMs' | 'at'>
  /** After this time a call is given up. */
  msMax: number
  /** What its caller gets then. */
  late: DuelogError
  /** Its code if the thread dies. Default: `not-ready`, which clients repeat. */
  diedCode?: ErrorCode
  /** What ends the thread as well, because it may hang. Otherwise it is told that nobody waits for the answer. */
  endsIt: readonly ('late' | 'gone')[]
  /** The thread ends after this time without a call. Absent: never. */
  idleMs?: number
  /** A message of the thread that is no answer. */
  onMessage?: (message: object, tell: (message: object) => void) => void
}

interface Open {
  resolve(result: unknown): void
  reject(reason: unknown): void
  end(): void
}

export class ThreadCalls {
  readonly #options: ThreadCallsOptions
  readonly #open = new Map<number, Open>()
  #worker: Worker | undefined
  #cancelIdle = (): void => {}
  #id = 0
  #isStopped = false

  constructor(options: ThreadCallsOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#worker !== undefined
  }

  /** Calls without an answer. */
  get size(): number {
    return this.#open.size
  }

  /** Rejects with the signal's reason if its caller has gone. `special`: of this call. */
  call<Result>(
    name: string,
    args: readonly unknown[],
    signal?: AbortSignal,
    special: Partial<Pick<ThreadCallsOptions, 'msMax' | 'late' | 'endsIt'>> = {},
  ): Promise<Result> {
    if (this.#isStopped) return Promise.reject(new DuelogError('not-ready', 'This process is stopping.'))
    const { clock, msMax, late, endsIt } = { ...this.#options, ...special }
    const sent = serialize(args)
    this.#cancelIdle()
    this.#worker ??= this.#started()
    const worker = this.#worker
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      const giveUp = (why: 'late' | 'gone', reason: unknown): void => {
        this.#take(id)?.reject(reason)
        if (endsIt.includes(why)) this.#ended(worker, '')
        else worker.postMessage({ id, isGone: true } satisfies ToThread)
      }
      const aborted = (): void => giveUp('gone', signal?.reason)
      const cancelTimer = clock.at(clock.nowMs() + msMax, () => giveUp('late', late))
      const end = (): void => {
        cancelTimer()
        signal?.removeEventListener('abort', aborted)
      }
      this.#open.set(id, { resolve: resolve as (result: unknown) => void, reject, end })
      signal?.addEventListener('abort', aborted)
      // Also if nobody wants the answer any more: the thread may have to learn what the call tells.
      worker.postMessage({ id, name, args: sent } satisfies ToThread)
      if (signal?.aborted) aborted()
    })
  }

  /** Ends the thread, after a last call to one that runs. */
  async stop(last?: { name: string; msMax: number }): Promise<void> {
    const closing = last && this.isRunning ? this.call(last.name, [], undefined, last).catch(() => {}) : undefined
    this.#isStopped = true
    await closing
    this.#cancelIdle()
    if (this.#worker !== undefined) await this.#ended(this.#worker, '')
  }

  #started(): Worker {
    const { file, name, heapMb, youngMb, dataOf, onMessage } = this.#options
    const resourceLimits = { maxOldGenerationSizeMb: heapMb, ...(youngMb && { maxYoungGenerationSizeMb: youngMb }) }
    const worker = new Worker(file, { name, workerData: dataOf?.(), resourceLimits })
    // A thread keeps no process from its end.
    worker.unref()
    worker.on('message', (message: FromThread | object) => {
      if (!('id' in message)) return onMessage?.(message, (answer) => worker.postMessage(answer))
      const call = this.#take(message.id)
      if ('result' in message) call?.resolve(deserialize(message.result))
      else call?.reject(new DuelogError(message.error.code ?? 'internal', message.error.message))
    })
    worker.on('error', (error) => this.#ended(worker, `: ${messageOf(error)}`))
    worker.on('exit', () => this.#ended(worker, ''))
    return worker
  }

  /** Its calls have no answer any more. */
  async #ended(worker: Worker, why: string): Promise<void> {
    if (this.#worker !== worker) return
    this.#worker = undefined
    const { what, diedCode = 'not-ready' } = this.#options
    const error = new DuelogError(diedCode, `The thread of ${what} has ended${why}; try again shortly.`)
    for (const id of [...this.#open.keys()]) this.#take(id)?.reject(error)
    await worker.terminate()
  }

  #take(id: number): Open | undefined {
    const call = this.#open.get(id)
    this.#open.delete(id)
    call?.end()
    const { clock, idleMs } = this.#options
    if (this.#open.size === 0 && this.isRunning && !this.#isStopped && idleMs !== undefined) {
      this.#cancelIdle()
      this.#cancelIdle = clock.at(clock.nowMs() + idleMs, () => this.#worker && this.#ended(this.#worker, ''))
    }
    return call
  }
}

export const threadErrorOf = (error: unknown): ThreadError => ({
  code: error instanceof DuelogError ? error.code : undefined,
  message: messageOf(error),
})

/** In the thread: answers its calls, in turn or all at once. Messages without an id go to `onMessage`. */
export function answerCalls(
  answer: (name: string, args: never[], signal: AbortSignal) => unknown,
  { isInTurn = true, onMessage }: { isInTurn?: boolean; onMessage?: (message: object) => void } = {},
): void {
  const wanted = new Map<number, AbortController>()
  let last: Promise<void> = Promise.resolve()
  const tell = (message: FromThread): void => parentPort?.postMessage(message)
  const answerOne = async (id: number, name: string, args: Uint8Array, signal: AbortSignal): Promise<void> => {
    try {
      tell({ id, result: serialize(await answer(name, deserialize(args), signal)) })
    } catch (error) {
      tell({ id, error: threadErrorOf(error) })
    } finally {
      wanted.delete(id)
    }
  }
  parentPort?.on('message', (message: ToThread | object) => {
    if (!('id' in message)) onMessage?.(message)
    else if ('isGone' in message) wanted.get(message.id)?.abort()
    else {
      const { id, name, args } = message
      const gone = new AbortController()
      wanted.set(id, gone)
      const begin = (): Promise<void> => answerOne(id, name, args, gone.signal)
      if (isInTurn) last = last.then(begin)
      else void begin()
    }
  })
}
