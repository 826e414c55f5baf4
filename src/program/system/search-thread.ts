/** The thread that searches the stores of a scheduler. It has a lower priority, reads the files itself, and makes one search after another. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { DuelogError } from '../../ground/errors/index.ts'
import type { StoreSearches } from '../../ground/ports/index.ts'
import { answerCalls, type ThreadError } from '../../ground/process/index.ts'
import { type CodecsSeed, codecsOfSeed } from '../../log/kafka/index.ts'
import { readingRocks } from '../../log/store/index.ts'
import { WholeSearches } from '../../scheduler/index.ts'

export interface SearchThreadData {
  folder: string
  ids: CodecsSeed['ids']
}

/** The thread asks for a schema; the answer. */
export interface SchemaQuestion {
  schemaId: number
}
export type SchemaAnswer = { schemaId: number } & ({ text: string | null } | { error: ThreadError })

const { folder, ids } = workerData as SearchThreadData
const schemas = new Map<number, PromiseWithResolvers<string | null>>()

// Others take this of the whole process.
if (process.platform === 'linux') setPriority(10)

const searches = new WholeSearches({
  codecs: codecsOfSeed({ ids, schemaOf }),
  reading: (partition, task) => readingRocks(folder, partition, task),
})

function schemaOf(schemaId: number): Promise<string | null> {
  const asked = schemas.get(schemaId) ?? Promise.withResolvers<string | null>()
  if (!schemas.has(schemaId)) parentPort?.postMessage({ schemaId } satisfies SchemaQuestion)
  schemas.set(schemaId, asked)
  return asked.promise
}

answerCalls((call, [search], signal) => searches[call as keyof StoreSearches](search as never, signal), {
  onMessage: (message) => takeSchema(message as SchemaAnswer),
})

function takeSchema(message: SchemaAnswer): void {
  const asked = schemas.get(message.schemaId)
  schemas.delete(message.schemaId)
  if ('text' in message) asked?.resolve(message.text)
  else asked?.reject(new DuelogError(message.error.code ?? 'registry-unavailable', message.error.message))
}
