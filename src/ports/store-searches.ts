/** Port to the searches through whole stores. The scheduler implements it in place, src/system in a thread. */
import type { DeadRuns, DeadRunsQuery } from './dead-runs.ts'
import type { ListedJobs } from './owner-queries.ts'
import type { JobFilter } from './owner-views.ts'

export interface ListQuery {
  filter: JobFilter
  limit: number
  /** Only jobs after this one, in the order of their bytes. */
  after?: string | undefined
}

export interface StoreSearch<Query> {
  partition: number
  /** Ids of definitions written since the last search. Undefined: unknown, so what is remembered of the store does not count. */
  written?: readonly string[] | undefined
  query: Query
}

/**
 * Each search sees all that was applied to the store before the call. Rejects with the reason of the signal, with `not-ready` if the store
 * cannot be read, and with `overloaded` if it takes too long.
 */
export interface StoreSearches {
  /** Runs have no heartbeats. One call reads about 10,000 jobs at most. */
  list(search: StoreSearch<ListQuery>, signal?: AbortSignal): Promise<ListedJobs>
  deadRuns(search: StoreSearch<DeadRunsQuery>, signal?: AbortSignal): Promise<DeadRuns>
}
