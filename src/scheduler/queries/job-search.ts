/** Search for the jobs of a filter in one partition, in the order of their ids, with bounded work for each call. */
import type { JobDefinition } from '../../../schemas/index.ts'
import { type Job, timerBound, timerKind, timerOfKey } from '../../../streams/state/index.ts'
import type { JobFilter, JobView, ListedJobs, ListQuery, StoreReader } from '../../ground/ports/index.ts'
import { sizeOfView } from '../../ground/records/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { eachJob } from '../state/index.ts'
import { type Walk, walkOf } from './job-ranges.ts'
import { byBytes, type SearchIndex } from './search-index.ts'

/** Jobs that one call reads, and those that the thread that fires reads of them: some milliseconds. */
export const scannedJobsMax = 10_000
export const hereJobsMax = 500
const slice = 500
/** Bytes of definitions that are scanned together. */
const sieveBytesMax = 1024 * 1024
/** Bytes of payloads, results and texts after which one answer ends, but never before its first job. The caller merges many answers. */
export const listedBytesMax = 1024 * 1024
/** Definitions that are read at once while the search index is built. */
const buildStep = 2_000

interface Place {
  store: StoreReader
  codecs: SchedulerCodecs
  viewOf(job: Job): JobView | undefined
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

/** The first part of a list. `isWhole`: there is no more for this call. */
export async function listHere(place: Place, page: ListQuery): Promise<ListedJobs & { isWhole: boolean }> {
  const { filter, limit } = page
  const walk = walkOf(filter)
  if (!walk.isNarrow && filter.dueBefore !== undefined) {
    const soon = await idsDueBefore(place.store, filter.dueBefore, hereJobsMax)
    if (soon !== undefined) return { ...(await listAmong(place, soon, page)), isWhole: true }
  }
  const listed = await listAlong(place, walk, page, hereJobsMax)
  return { ...listed, isWhole: listed.next === undefined || listed.looked < hereJobsMax || listed.jobs.length >= limit }
}

export async function listJobsOf(place: Place & { searchIndex: SearchIndex | undefined }, page: ListQuery): Promise<ListedJobs> {
  const { filter } = page
  const walk = walkOf(filter)
  if (walk.isNarrow) return listAlong(place, walk, page)
  if (filter.dueBefore !== undefined) {
    const soon = await idsDueBefore(place.store, filter.dueBefore, scannedJobsMax)
    if (soon !== undefined) return listAmong(place, soon, page)
  }
  const { searchIndex } = place
  const byName = filter.handler !== undefined || filter.idContains !== undefined
  if (searchIndex === undefined || !byName || filter.idPrefix !== undefined) return listAlong(place, walk, page)
  return listBySearchIndex(place, searchIndex, walk, page)
}

/** Every walk is in the order of job ids, so all use the same cursor. */
async function listAlong(
  place: Place,
  way: Walk,
  { filter, limit, after }: ListQuery,
  lookedMax = scannedJobsMax,
): Promise<ListedJobs> {
  const { store, codecs, viewOf } = place
  const names = namesIn(filter, way)
  const found = new Found(limit)
  const { jobs } = found
  const chunk = way.isNarrow ? Math.min(slice, 2 * limit) : slice
  let cursor = after
  let looked = 0
  while (looked < lookedMax) {
    const read = names.length === 0 ? { keysOnly: true } : { bytesMax: sieveBytesMax }
    const entries = await store.scan({ ...way.rangeAfter(cursor), limit: chunk, ...read })
    const may = entries.flatMap(({ key, value }, place) => {
      const id = way.idOf(key)
      if (filter.idContains !== undefined && !id.includes(filter.idContains)) return []
      return names.every((name) => value.includes(name)) ? { id, place } : []
    })
    let tried = 0
    for await (const job of eachJob(
      store,
      codecs,
      may.map(({ id }) => id),
    )) {
      const at = may[tried++]?.place ?? 0
      const view = viewOf(job)
      if (view === undefined || !matches(view, filter)) continue
      if (found.add(view)) return { jobs, next: job.id, looked: looked + at + 1 }
    }
    looked += entries.length
    const last = entries.at(-1)
    if (last !== undefined) cursor = way.idOf(last.key)
    if (names.length === 0 ? entries.length < chunk : last === undefined) return { jobs, looked }
  }
  return { jobs, ...(cursor !== undefined && { next: cursor }), looked }
}

/** What the bytes of a definition contain if it has the names of the filter. Most are found to have them not without being decoded. */
function namesIn({ handler, tag }: JobFilter, { isOfDefinitions }: Walk): Buffer[] {
  return isOfDefinitions ? [handler, tag].flatMap((name) => (name === undefined ? [] : Buffer.from(name))) : []
}

/** Searches the known part of the index first. If that is not enough, a further part is built, of bounded size in each call. */
async function listBySearchIndex(place: Place, searchIndex: SearchIndex, walk: Walk, page: ListQuery): Promise<ListedJobs> {
  const { filter, limit, after } = page
  const { store, codecs } = place
  const found = new Found(limit)
  const { jobs } = found
  let cursor = after
  let looked = 0
  let loaded = 0
  let built = await searchIndex.advance(store, codecs, 0)
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
    built += await searchIndex.advance(store, codecs, buildStep)
  }
  return { jobs, next: cursor, looked }
}

function viewOf(place: Place, job: Job, filter: JobFilter): JobView | undefined {
  const view = place.viewOf(job)
  return view !== undefined && matches(view, filter) ? view : undefined
}

/** Jobs that are due soon, from the time index, which reads no others. Undefined: there are too many. */
async function idsDueBefore(store: StoreReader, dueBefore: number, max: number): Promise<string[] | undefined> {
  const entries = await store.scan({ from: timerBound(0), to: timerBound(dueBefore), limit: max, keysOnly: true })
  if (entries.length === max) return undefined
  const timers = entries.map(({ key }) => timerOfKey(key))
  return timers.filter(({ kind }) => kind === timerKind.fire).map(({ jobId }) => jobId)
}

/** The jobs among `ids` that match the filter. The cursor is a job id as well. */
export async function listAmong(place: Place, ids: readonly string[], { filter, limit, after }: ListQuery): Promise<ListedJobs> {
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
