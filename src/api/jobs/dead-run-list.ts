/** One page of the dead runs of all partitions, newest first, with their number and the kinds of their errors. */
import { DuelogError } from '../../errors/index.ts'
import {
  type Asker,
  addKind,
  byDeath,
  type DeadPlace,
  type DeadRun,
  type DeadRuns,
  type DeadRunsQuery,
  type ErrorKindCount,
} from '../../ports/index.ts'
import type { ReadConsistency } from '../owners/index.ts'
import { errorKindsListed, listBytesMax } from '../schemas/index.ts'

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
    dropped += found.dropped ?? 0
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
