/**
 * One page of jobs or dead runs from all partitions. Each partition returns its jobs in the order of their ids, and the pages of all are
 * merged; the last id of a page is where every partition continues. Dead runs come newest first, with their number and the kinds of their
 * errors.
 */
import type { Clock } from '../../../ground/clock/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type {
  Asker,
  DeadPlace,
  DeadRun,
  DeadRuns,
  DeadRunsQuery,
  ErrorKindCount,
  JobFilter,
  JobView,
  ListedJobs,
} from '../../../ground/ports/index.ts'
import { addKind, byDeath, sizeOfView } from '../../../ground/records/index.ts'
import type { ReadConsistency } from '../owners/index.ts'
import { errorKindsListed, listBytesMax, listCallsMax, listChunkMax, listFirstChunkMax, listMsMax } from '../schemas/index.ts'

/** The end of a page: after this id in every partition, except in partitions that were searched further without a match. */
interface Cursor {
  after?: string
  partitions: Map<number, string>
}

interface Source {
  partition: number
  after: string | undefined
  heads: JobView[]
  ended: boolean
  asked: boolean
}

export interface JobPage {
  jobs: JobView[]
  /** Absent at the end of the list. A page may be short or even empty and still have a cursor. */
  cursor?: string
  /** Number of jobs that owners read for it. */
  searched: number
}

/**
 * Rejects with `bad-request` for an unknown cursor, with `not-ready` if a partition has no active owner, and with the reason of
 * the caller's signal.
 */
export async function listJobs(
  reading: ReadConsistency,
  partitions: number,
  { filter, limit, cursor, asker }: { filter: JobFilter; limit: number; cursor?: string | undefined; asker?: Asker },
  clock: Pick<Clock, 'steadyMs'>,
): Promise<JobPage> {
  const from = decodeCursor(cursor)
  const sources = Array.from({ length: partitions }, (_, partition): Source => {
    const after = laterOf(from.after, from.partitions.get(partition))
    return { partition, after, heads: [], ended: false, asked: false }
  })
  const untilMs = clock.steadyMs() + listMsMax
  let calls = listCallsMax * partitions + Math.ceil(limit / listChunkMax)
  const mayAsk = (owners: number): boolean => {
    const isFirst = searched === 0
    calls -= owners
    return calls >= 0 && (isFirst || clock.steadyMs() < untilMs)
  }
  const share = Math.min(listFirstChunkMax, Math.ceil(limit / partitions) + 1)
  const jobs: JobView[] = []
  let bytes = 0
  let searched = 0
  const ask = async (source: Source): Promise<ListedJobs> => {
    const { partition, after, asked } = source
    source.asked = true
    asker?.signal?.throwIfAborted()
    const chunk = asked ? Math.min(listChunkMax, limit - jobs.length) : share
    const listed = await reading.ask(partition, (jobs) => jobs.list(partition, filter, chunk, after, asker))
    searched += listed.looked
    return listed
  }
  while (jobs.length < limit && (await fill(sources, ask, mayAsk))) {
    const first = lowest(sources)
    const job = first?.heads[0]
    if (first === undefined || job === undefined) break
    bytes += sizeOfView(job)
    if (jobs.length > 0 && bytes > listBytesMax) break
    first.heads.shift()
    first.after = job.id
    jobs.push(job)
  }
  const more = sources.some((source) => !source.ended || source.heads.length > 0)
  return { jobs, searched, ...(more && { cursor: encodeCursor(jobs.at(-1)?.id ?? from.after, sources) }) }
}

/** Reads on in partitions without a known next job. False if a partition may still have the next job but may not be asked again. */
async function fill(
  sources: Source[],
  ask: (source: Source) => Promise<ListedJobs>,
  mayAsk: (owners: number) => boolean,
): Promise<boolean> {
  for (;;) {
    const empty = sources.filter((source) => source.heads.length === 0 && !source.ended)
    if (empty.length === 0) return true
    if (!mayAsk(empty.length)) return false
    await Promise.all(
      empty.map(async (source) => {
        const { jobs, next } = await ask(source)
        source.heads = jobs
        source.ended = next === undefined
        // Nothing was found so far: the searched part need not be searched again.
        if (jobs.length === 0) source.after = laterOf(source.after, next)
      }),
    )
  }
}

function lowest(sources: Source[]): Source | undefined {
  let found: Source | undefined
  for (const source of sources) {
    const job = source.heads[0]
    const best = found?.heads[0]
    if (job !== undefined && (best === undefined || compareIds(job.id, best.id) < 0)) found = source
  }
  return found
}

/** Ids are ordered by their bytes, like in the store; the order of JavaScript differs above U+FFFF. */
function compareIds(left: string, right: string): number {
  return Buffer.compare(Buffer.from(left), Buffer.from(right))
}

function laterOf(left: string | undefined, right: string | undefined): string | undefined {
  if (left === undefined || right === undefined) return left ?? right
  return compareIds(left, right) >= 0 ? left : right
}

function encodeCursor(after: string | undefined, sources: Source[]): string {
  const further = sources.filter((source) => source.after !== undefined && laterOf(after, source.after) !== after)
  const partitions = further.map((source) => [source.partition, source.after])
  return Buffer.from(JSON.stringify([after ?? null, partitions])).toString('base64url')
}

function decodeCursor(text: string | undefined): Cursor {
  if (text === undefined) return { partitions: new Map() }
  try {
    const [after, partitions] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [unknown, unknown]
    const entries = (partitions as unknown[]).map((entry): [number, string] => {
      const [partition, id] = entry as [unknown, unknown]
      if (!Number.isInteger(partition) || typeof id !== 'string') throw new TypeError('not a position')
      return [partition as number, id]
    })
    if (after !== null && typeof after !== 'string') throw new TypeError('not an id')
    return { ...(after !== null && { after }), partitions: new Map(entries) }
  } catch (error) {
    throw new DuelogError('bad-request', 'The cursor was not made by this API; leave it out to start from the first job.', {
      cause: error,
    })
  }
}

export interface DeadRunPage {
  runs: DeadRun[]
  /** Cursor of the next page; null at the end. */
  cursor: string | null
  total: number
  /** Older dead runs of the same jobs that are no longer kept. */
  dropped: number
  kinds: ErrorKindCount[]
}

/** Rejects with `bad-request` for an unknown cursor, and with `not-ready` if a partition has no active owner. */
export async function listDeadRuns(
  reading: ReadConsistency,
  partitions: number,
  {
    filter,
    limit,
    harmlessOnly,
    cursor,
    asker,
  }: Omit<DeadRunsQuery, 'before' | 'after'> & { cursor?: string | undefined; asker: Asker },
): Promise<DeadRunPage> {
  const before = placeOf(cursor)
  const query = { filter, limit, harmlessOnly, ...(before && { before }) }
  const kinds = new Map<string, ErrorKindCount>()
  let runs: DeadRun[] = []
  let total = 0
  let dropped = 0
  // An answer that was cut says nothing about runs behind its last one.
  let until: DeadPlace | undefined
  let isCut = false
  const take = (found: DeadRuns): void => {
    total += found.count
    dropped += found.dropped
    for (const kind of found.kinds) addKind(kinds, kind)
    const last = found.runs.at(-1)?.place
    if (found.isCut && last !== undefined && (until === undefined || byDeath(last, until) < 0)) until = last
    isCut ||= found.isCut
    runs.push(...found.runs)
    runs.sort((a, b) => byDeath(a.place, b.place))
    isCut ||= runs.length > limit
    runs = runs.slice(0, limit)
  }
  await Promise.all(
    Array.from({ length: partitions }, async (_, partition) => {
      let after: string | undefined
      do {
        asker.signal?.throwIfAborted()
        const asked = after === undefined ? query : { ...query, after }
        const found = await reading.ask(partition, (jobs) => jobs.deadRuns(partition, asked, asker))
        take(found)
        after = found.next
      } while (after !== undefined)
    }),
  )
  const certain = until
  if (certain !== undefined) runs = runs.filter(({ place }) => byDeath(place, certain) <= 0)
  const shown = withinBytes(runs)
  const last = shown.at(-1)
  const more = last !== undefined && (isCut || shown.length < runs.length)
  const listed = [...kinds.values()].sort((a, b) => b.count - a.count).slice(0, errorKindsListed)
  return { runs: shown, cursor: more ? cursorOf(last.place) : null, total, dropped, kinds: listed }
}

function withinBytes(runs: DeadRun[]): DeadRun[] {
  let bytes = 0
  const end = runs.findIndex(({ run }, at) => {
    bytes += (run?.result?.length ?? 0) + (run?.errors ?? []).reduce((sum, { message }) => sum + message.length, 0)
    return at > 0 && bytes > listBytesMax
  })
  return end < 0 ? runs : runs.slice(0, end)
}

const cursorOf = ({ at, jobId, runNo }: DeadPlace): string =>
  Buffer.from(JSON.stringify([at, jobId, runNo])).toString('base64url')

function placeOf(cursor: string | undefined): DeadPlace | undefined {
  if (cursor === undefined) return undefined
  try {
    const [at, jobId, runNo] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    if (
      Number.isSafeInteger(at) &&
      typeof jobId === 'string' &&
      Number.isSafeInteger(runNo) &&
      (at as number) >= 0 &&
      (runNo as number) > 0
    )
      return { at: at as number, jobId, runNo: runNo as number }
  } catch {
    // As for a text that is JSON and no place.
  }
  throw new DuelogError('bad-request', 'The cursor was not made by this API; leave it out to start from the newest dead run.')
}
