/** Search for the jobs of a filter in one partition, in the order of their ids, with bounded work for each call. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { type Job, timerBound, timerKind, timerOfKey } from '../../../streams/state/index.ts'
import { type JobFilter, type JobView, type ListedJobs, type PartitionStore, sizeOfView } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'
import { type Walk, walkOf } from './job-ranges.ts'
import { byBytes, type SearchIndex } from './search-index.ts'

/** Jobs that one call reads. */
export const scannedJobsMax = 10_000
const slice = 500
/** Bytes of payloads, results and texts after which one answer ends, but never before its first job. The caller merges many answers. */
export const listedBytesMax = 1024 * 1024
/** Definitions that are read at once while the search index is built. */
const buildStep = 2_000

interface Place {
  store: PartitionStore
  codecs: SchedulerCodecs
  steadyMs: number
  viewOf(job: Job): JobView | undefined
}
interface Page {
  filter: JobFilter
  limit: number
  after: string | undefined
}

/** Jobs that one call has found. */
class Found {
  readonly jobs: JobView[] = []
  readonly #limit: number
  #bytes = 0

  constructor(limit: number) {
    this.#limit = limit
  }

  /** True: the answer is full. */
  add(view: JobView): boolean {
    this.jobs.push(view)
    this.#bytes += sizeOfView(view)
    return this.jobs.length >= this.#limit || this.#bytes >= listedBytesMax
  }
}

export async function listJobsOf(place: Place & { searchIndex: SearchIndex | undefined }, page: Page): Promise<ListedJobs> {
  const { filter } = page
  const walk = walkOf(filter)
  if (walk.isNarrow) return listAlong(place, walk, page)
  if (filter.dueBefore !== undefined) {
    const soon = await idsDueBefore(place.store, filter.dueBefore)
    if (soon !== undefined) return listAmong(place, soon, page)
  }
  const { searchIndex } = place
  const byName = filter.handler !== undefined || filter.idContains !== undefined
  if (searchIndex === undefined || !byName || filter.idPrefix !== undefined) return listAlong(place, walk, page)
  return listBySearchIndex(place, searchIndex, walk, page)
}

/** Every walk is in the order of job ids, so all use the same cursor. */
async function listAlong(place: Place, way: Walk, { filter, limit, after }: Page): Promise<ListedJobs> {
  const { store, codecs, viewOf } = place
  const found = new Found(limit)
  const { jobs } = found
  const chunk = way.isNarrow ? Math.min(slice, 2 * limit) : slice
  let cursor = after
  let looked = 0
  while (looked < scannedJobsMax) {
    const entries = await store.scan({ ...way.rangeAfter(cursor), limit: chunk, keysOnly: true })
    const ids = entries.map(({ key }) => way.idOf(key))
    for await (const job of eachJob(store, codecs, ids)) {
      cursor = job.id
      looked++
      const view = viewOf(job)
      if (view === undefined || !matches(view, filter)) continue
      if (found.add(view)) return { jobs, next: cursor, looked }
    }
    if (entries.length < chunk) return { jobs, looked }
  }
  return { jobs, ...(cursor !== undefined && { next: cursor }), looked }
}

/** Searches the known part of the index first. If that is not enough, a further part is built, of bounded size in each call. */
async function listBySearchIndex(place: Place, searchIndex: SearchIndex, walk: Walk, page: Page): Promise<ListedJobs> {
  const { filter, limit, after } = page
  const { store, codecs, steadyMs } = place
  const found = new Found(limit)
  const { jobs } = found
  let cursor = after
  let looked = 0
  let loaded = 0
  let built = await searchIndex.advance(store, codecs, 0, steadyMs)
  for (;;) {
    const proposed = searchIndex.propose(filter, cursor, Math.min(slice, 2 * limit))
    looked += proposed.looked
    for await (const job of eachJob(store, codecs, proposed.ids)) {
      loaded++
      const view = viewOf(place, job, filter)
      if (view !== undefined && found.add(view)) return { jobs, next: job.id, looked }
    }
    if (proposed.upTo === undefined) return { jobs, looked }
    cursor = proposed.upTo
    if (loaded >= scannedJobsMax) break
    if (proposed.isCut) continue
    if (built >= scannedJobsMax) break
    // The ids have reached their limit. Later jobs are searched one by one.
    if (searchIndex.full)
      return jobs.length > 0 ? { jobs, next: cursor, looked } : listAlong(place, walk, { ...page, after: cursor })
    built += await searchIndex.advance(store, codecs, buildStep, steadyMs)
  }
  return { jobs, next: cursor, looked }
}

function viewOf(place: Place, job: Job, filter: JobFilter): JobView | undefined {
  const view = place.viewOf(job)
  return view !== undefined && matches(view, filter) ? view : undefined
}

/** Jobs that are due soon, from the time index, which reads no others. Undefined: there are too many. */
async function idsDueBefore(store: PartitionStore, dueBefore: number): Promise<string[] | undefined> {
  const entries = await store.scan({ from: timerBound(0), to: timerBound(dueBefore), limit: scannedJobsMax, keysOnly: true })
  if (entries.length === scannedJobsMax) return undefined
  const timers = entries.map(({ key }) => timerOfKey(key))
  return timers.filter(({ kind }) => kind === timerKind.fire).map(({ jobId }) => jobId)
}

/** The jobs among `ids` that match the filter. The cursor is a job id as well. */
export async function listAmong(place: Place, ids: readonly string[], { filter, limit, after }: Page): Promise<ListedJobs> {
  const ordered = [...new Set(ids)].filter((id) => after === undefined || byBytes(id, after) > 0).sort(byBytes)
  const found = new Found(limit)
  const { jobs } = found
  for (let at = 0; at < ordered.length; at += slice) {
    for await (const job of eachJob(place.store, place.codecs, ordered.slice(at, at + slice))) {
      const view = viewOf(place, job, filter)
      if (view !== undefined && found.add(view)) return { jobs, next: job.id, looked: jobs.length }
    }
  }
  return { jobs, looked: ordered.length }
}

function matches(view: JobView, filter: JobFilter): boolean {
  const { definition } = view
  return matchesJob({ id: view.id, ...(definition !== undefined && { definition: { spec: definition } }) }, view, filter)
}

/** Whether the job with this state, or with the same fields of its view, is one of the filter. */
export function matchesJob(
  { id, definition }: { id: string; definition?: { spec?: JobDefinition } },
  state: Pick<JobView, 'status' | 'deadRuns' | 'nextDueAt' | 'nextFireAt'> & { active: readonly { status: string }[] },
  filter: JobFilter,
): boolean {
  const spec = definition?.spec
  if (filter.idPrefix !== undefined && !id.startsWith(filter.idPrefix)) return false
  if (filter.idContains !== undefined && !id.includes(filter.idContains)) return false
  if (filter.active === true && state.active.length === 0) return false
  if (filter.runStatus !== undefined && !state.active.some(({ status }) => status === filter.runStatus)) return false
  if (filter.dead === true && state.deadRuns.length === 0) return false
  if (filter.status !== undefined && state.status !== filter.status) return false
  if (filter.tag !== undefined && !spec?.tags.includes(filter.tag)) return false
  if (filter.handler !== undefined && spec?.target.handler !== filter.handler) return false
  const dueAt = state.nextDueAt ?? state.nextFireAt
  return filter.dueBefore === undefined || (dueAt !== null && dueAt < filter.dueBefore)
}
