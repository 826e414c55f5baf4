/** The thread that searches the stores of a scheduler. It has a lower priority, reads the files itself, and makes one search after another. */
import { setPriority } from 'node:os'
import { deserialize, serialize } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import { DuelogError, type ErrorCode, messageOf } from '../errors/index.ts'
import { type CodecsSeed, codecsOfSeed } from '../kafka/index.ts'
import type { StoreSearches } from '../ports/index.ts'
import { WholeSearches } from '../scheduler/index.ts'
import { readingRocks } from '../store/index.ts'

export interface SearchThreadData {
  folder: string
  ids: CodecsSeed['ids']
}

export interface ThreadError {
  /** Absent: the error is none of Duelog. */
  code: ErrorCode | undefined
  message: string
}

/** To the thread. `search` and `result` are serialized by node:v8, because a Buffer is a plain array of bytes after its way between threads. */
export type ToThread =
  | { id: number; call: keyof StoreSearches; search: Uint8Array }
  | { id: number; isGone: true }
  | { schemaId: number; text: string | null }
  | { schemaId: number; error: ThreadError }
  | 'end'
export type FromThread = { id: number; result: Uint8Array } | { id: number; error: ThreadError } | { schemaId: number }

const { folder, ids } = workerData as SearchThreadData
const schemas = new Map<number, PromiseWithResolvers<string | null>>()
const wanted = new Map<number, AbortController>()
let last: Promise<void> = Promise.resolve()

// Others take this of the whole process.
if (process.platform === 'linux') setPriority(10)

const tell = (message: FromThread): void => parentPort?.postMessage(message)

const searches = new WholeSearches({
  codecs: codecsOfSeed({ ids, schemaOf }),
  reading: (partition, task) => readingRocks(folder, partition, task),
})

function schemaOf(schemaId: number): Promise<string | null> {
  const asked = schemas.get(schemaId) ?? Promise.withResolvers<string | null>()
  if (!schemas.has(schemaId)) tell({ schemaId })
  schemas.set(schemaId, asked)
  return asked.promise
}

parentPort?.on('message', (message: ToThread) => {
  if (message === 'end') parentPort?.close()
  else if ('schemaId' in message) takeSchema(message)
  else if ('isGone' in message) wanted.get(message.id)?.abort()
  else {
    const gone = new AbortController()
    wanted.set(message.id, gone)
    last = last.then(() => answer(message, gone.signal))
  }
})

function takeSchema(message: Extract<ToThread, { schemaId: number }>): void {
  const asked = schemas.get(message.schemaId)
  schemas.delete(message.schemaId)
  if ('text' in message) asked?.resolve(message.text)
  else asked?.reject(new DuelogError(message.error.code ?? 'registry-unavailable', message.error.message))
}

async function answer({ id, call, search }: Extract<ToThread, { call: unknown }>, signal: AbortSignal): Promise<void> {
  try {
    tell({ id, result: serialize(await searches[call](deserialize(search), signal)) })
  } catch (error) {
    tell({ id, error: { code: error instanceof DuelogError ? error.code : undefined, message: messageOf(error) } })
  } finally {
    wanted.delete(id)
  }
}
