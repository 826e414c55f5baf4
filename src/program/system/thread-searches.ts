/**
 * Searches through the stores of a scheduler in a thread of their own, so that none delays a run. The thread is started by the first search
 * and ends some minutes after the last one, and with it what it remembers.
 */
import type { Clock } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { DeadRuns, DeadRunsQuery, ListedJobs, ListQuery, StoreSearch, StoreSearches } from '../../ground/ports/index.ts'
import { modulePath, ThreadCalls, threadErrorOf } from '../../ground/process/index.ts'
import type { CodecsSeed } from '../../log/kafka/index.ts'
import type { SchemaAnswer, SchemaQuestion, SearchThreadData } from './search-thread.ts'

/** After this time a search is given up, and the thread with it, because it may hang. One takes a second at most. */
const searchMsMax = 30_000
/** The thread ends after this time without a search. A dashboard asks once a minute. */
const idleMs = 120_000
/** Memory of the thread for objects of JavaScript, in MB; the ids of its indexes come in addition. */
const heapMb = 192

export interface ThreadSearchesOptions {
  /** That of `rocksStores`. */
  folder: string
  seed: CodecsSeed
  clock: Pick<Clock, 'nowMs' | 'at'>
}

export class ThreadSearches implements StoreSearches {
  readonly #calls: ThreadCalls

  constructor({ folder, seed, clock }: ThreadSearchesOptions) {
    this.#calls = new ThreadCalls({
      what: 'the searches',
      file: modulePath('./search-thread', import.meta.url),
      ...{ name: 'searches', heapMb, dataOf: (): SearchThreadData => ({ folder, ids: seed.ids }) },
      late: new DuelogError('overloaded', `A search did not end within ${searchMsMax / 1_000} s; ask again later.`),
      ...{ clock, msMax: searchMsMax, endsIt: ['late'], idleMs },
      onMessage: (message, tell) => void tellSchema(seed, message as SchemaQuestion, tell),
    })
  }

  list(search: StoreSearch<ListQuery>, signal?: AbortSignal): Promise<ListedJobs> {
    return this.#calls.call('list', [search], signal)
  }

  deadRuns(search: StoreSearch<DeadRunsQuery>, signal?: AbortSignal): Promise<DeadRuns> {
    return this.#calls.call('deadRuns', [search], signal)
  }

  stop(): Promise<void> {
    return this.#calls.stop()
  }
}

async function tellSchema(seed: CodecsSeed, { schemaId }: SchemaQuestion, tell: (answer: SchemaAnswer) => void): Promise<void> {
  tell(
    await seed.schemaOf(schemaId).then(
      (text) => ({ schemaId, text }),
      (error) => ({ schemaId, error: threadErrorOf(error) }),
    ),
  )
}
