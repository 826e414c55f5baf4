/** Searches through whole stores, with the indexes that they build: in place, or in a thread of their own. */

import type {
  DeadRuns,
  DeadRunsQuery,
  ListedJobs,
  ListQuery,
  StoreReader,
  StoreSearch,
  StoreSearches,
} from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { listDeadRuns } from './dead-runs.ts'
import { activeRunView, viewOfJob } from './job-queries.ts'
import { listJobsOf } from './job-search.ts'
import { SearchIndex } from './search-index.ts'

export interface WholeSearchesOptions {
  codecs: SchedulerCodecs
  /** Does the task with the store as it is now. */
  reading<Answer>(partition: number, task: (store: StoreReader) => Promise<Answer>): Promise<Answer>
}

export class WholeSearches implements StoreSearches {
  readonly #options: WholeSearchesOptions
  readonly #indexes = new Map<number, SearchIndex>()

  constructor(options: WholeSearchesOptions) {
    this.#options = options
  }

  async list({ partition, written, query }: StoreSearch<ListQuery>, signal?: AbortSignal): Promise<ListedJobs> {
    const { codecs, reading } = this.#options
    const searchIndex = this.#indexes.get(partition) ?? new SearchIndex()
    this.#indexes.set(partition, searchIndex)
    // Before the store is opened: what is written between the two is in the next list.
    searchIndex.note(written)
    signal?.throwIfAborted()
    const viewOf = (job: Parameters<typeof viewOfJob>[0]) =>
      viewOfJob(job, partition, (active) => active.map((run) => activeRunView(run, null)))
    return reading(partition, (store) => listJobsOf({ store: wanted(store, signal), codecs, viewOf, searchIndex }, query))
  }

  deadRuns({ partition, query }: StoreSearch<DeadRunsQuery>, signal?: AbortSignal): Promise<DeadRuns> {
    const { codecs, reading } = this.#options
    return reading(partition, (store) => listDeadRuns({ store: wanted(store, signal), codecs }, query))
  }
}

/** The store for as long as somebody wants the answer. */
const wanted = ({ get, scan }: StoreReader, signal: AbortSignal | undefined): StoreReader => ({
  async get(keys) {
    signal?.throwIfAborted()
    return get(keys)
  },
  async scan(options) {
    signal?.throwIfAborted()
    return scan(options)
  },
})
