/**
 * Searches in portions, newest first: each portion walks a bounded part of one index, and the search ends when its time is over. So no
 * query runs for long, whatever it filters, and a caller continues where it ended.
 */
import type { HistoryCounts, HistoryFilter, HistoryPage } from '../../ports/index.ts'
import { type Condition, type Plan, planOf, restOf, sourceOf, type Way, withCleanTexts } from './conditions.ts'
import { idAt, runOf, timeOfId } from './rows.ts'
import type { Sql, SqlRow, SqlValue } from './sql.ts'

/** After this time a search ends with the portion that it has begun. */
export const searchMsMax = 700
/** Runs of a range that are sorted, and runs that are counted to compare the ways of a filter. */
const sortedMax = 20_000
const portionFirst = 2_000
const portionMax = 100_000
/** A portion that takes less is followed by one that is twice as long. */
const portionMs = 60

export interface SearchClock {
  steadyMs(): number
}

interface Search {
  sql: Sql
  clock: SearchClock
  low: bigint
  high: bigint
}

export async function searchPage(
  sql: Sql,
  clock: SearchClock,
  filter: HistoryFilter,
  limit: number,
  before: bigint | null,
): Promise<HistoryPage> {
  const high = filter.to === undefined ? idAt(Number.POSITIVE_INFINITY) : idAt(filter.to)
  const search: Search = { sql, clock, low: idAt(filter.from ?? 0), high: before !== null && before < high ? before : high }
  const plan = planOf(filter, sql.dialect)
  const way = await wayOf(search, plan)
  const rest = restOf(plan, way)
  const found: SqlRow[] = []
  // One more than the page shows whether there is a next one.
  const read = async (low: bigint, high: bigint): Promise<boolean> => {
    found.push(...(await rowsOf(sql, way, rest, low, high, limit + 1 - found.length)))
    return found.length <= limit
  }
  const endedAt = await walk(search, way, rest.length === 0, read)
  const runs = found.slice(0, limit).map(runOf)
  if (found.length > limit) {
    const last = found[limit - 1]?.id as bigint | number | string
    return { runs, next: String(last), searchedTo: timeOfId(BigInt(last)) }
  }
  return { runs, next: endedAt === null ? null : String(endedAt), searchedTo: endedAt === null ? null : timeOfId(endedAt) }
}

const hourMs = 3_600_000

/** By the table of counts if it can answer, and by the runs otherwise. */
export async function searchCounts(
  sql: Sql,
  clock: SearchClock,
  filter: HistoryFilter & { from: number; to: number },
  bucketMs: number,
): Promise<HistoryCounts> {
  const counts = new Map<number, Record<string, number>>()
  const add = (rows: readonly SqlRow[]): void => {
    for (const { bucket, outcome, runs } of rows) {
      const at = Number(bucket)
      const outcomes = counts.get(at) ?? {}
      outcomes[String(outcome)] = (outcomes[String(outcome)] ?? 0) + Number(runs)
      counts.set(at, outcomes)
    }
  }
  const countedFrom =
    bucketMs % hourMs === 0 && isOfCounts(filter)
      ? await fromCounts(sql, filter, bucketMs, add)
      : await fromRuns({ sql, clock, low: idAt(filter.from), high: idAt(filter.to) }, filter, bucketMs, add)
  const buckets = [...counts].map(([at, outcomes]) => ({ at, outcomes })).sort((a, b) => a.at - b.at)
  return { buckets, countedFrom }
}

/** Fields of the table of counts. */
const ofCounts: ReadonlySet<string> = new Set(['from', 'to', 'handler', 'pool', 'outcome'])
const isOfCounts = (filter: HistoryFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || ofCounts.has(name))

async function fromCounts(
  sql: Sql,
  { from, to, ...filter }: HistoryFilter & { from: number; to: number },
  bucketMs: number,
  add: (rows: SqlRow[]) => void,
): Promise<null> {
  const given = Object.entries(withCleanTexts(filter)).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const conditions = ['hour >= ?', 'hour < ?', ...given.map(([name]) => `${name} = ?`)].join(' AND ')
  const text = `SELECT hour - hour % ? AS bucket, outcome, sum(runs) AS runs FROM duelog_run_counts WHERE ${conditions} GROUP BY 1, 2`
  add(await sql.all(text, [bucketMs, from, to, ...given.map(([, value]) => value)]))
  return null
}

async function fromRuns(
  search: Search,
  filter: HistoryFilter,
  bucketMs: number,
  add: (rows: SqlRow[]) => void,
): Promise<number | null> {
  const { sql } = search
  const plan = planOf(filter, sql.dialect)
  const ways = plan.ways.filter(({ isOrdered }) => isOrdered)
  const way = await wayOf(search, { ...plan, ways })
  const endedAt = await walk(search, way, false, async (low, high) => {
    const { text, values } = sourceOf(way, restOf(plan, way), low, high, sql.dialect)
    const bucket = 'r.finished_at - r.finished_at % ?'
    add(
      await sql.all(`SELECT ${bucket} AS bucket, r.outcome AS outcome, count(*) AS runs ${text} GROUP BY 1, 2`, [
        bucketMs,
        ...values,
      ]),
    )
    return true
  })
  if (endedAt === null) return null
  // A bucket that is counted in part is counted as far as it is.
  return timeOfId(endedAt)
}

/** Newest first. A range that is not in the order of time is sorted by its ids alone. */
async function rowsOf(sql: Sql, way: Way, rest: Condition[], low: bigint, high: bigint, limit: number): Promise<SqlRow[]> {
  const { id, text, values, order } = sourceOf(way, rest, low, high, sql.dialect)
  if (way.isOrdered) return sql.all(`SELECT r.* ${text} ORDER BY ${order} LIMIT ?`, [...values, limit])
  const ids = `SELECT ${id} ${text} ORDER BY ${order} LIMIT ?`
  return sql.all(`SELECT r.* FROM duelog_runs r WHERE r.id IN (${ids}) ORDER BY r.id DESC`, [...values, limit])
}

/** The way with the fewest runs. */
async function wayOf({ sql, low, high }: Search, { ways }: Plan): Promise<Way> {
  if (ways.length === 1 || (ways.length === 2 && ways[0]?.isOrdered === true)) return ways[0] as Way
  let best = ways.at(-1) as Way
  let fewest = Number.POSITIVE_INFINITY
  for (const way of ways.slice(0, -1)) {
    const { id, text, values } = sourceOf(way, undefined, low, high, sql.dialect)
    const counted = `SELECT count(*) AS runs FROM (SELECT ${id} ${text} LIMIT ${sortedMax + 1}) x`
    const runs = Number((await sql.all(counted, values))[0]?.runs)
    if (runs > sortedMax && !way.isOrdered) continue
    if (runs < fewest) [best, fewest] = [way, runs]
  }
  return best
}

/**
 * Calls `read` for parts of the way, newest first, until it resolves false. Resolves with the id below which nothing was read, and
 * with null at the end.
 */
async function walk(
  { sql, clock, low, high }: Search,
  way: Way,
  isWhole: boolean,
  read: (low: bigint, high: bigint) => Promise<boolean>,
): Promise<bigint | null> {
  // The runs of the way are all wanted, or few: the limit of the page bounds the work.
  if (isWhole || !way.isOrdered) {
    await read(low, high)
    return null
  }
  const endMs = clock.steadyMs() + searchMsMax
  let top = high
  let portion = portionFirst
  for (;;) {
    const beganMs = clock.steadyMs()
    const { id, text, values, order } = sourceOf(way, undefined, low, top, sql.dialect)
    const rest: SqlValue[] = [...values, portion]
    const ids = `SELECT ${id} AS id ${text} ORDER BY ${order} LIMIT ?`
    const [part] = await sql.all(`SELECT min(id) AS low, count(*) AS runs FROM (${ids}) x`, rest)
    if (Number(part?.runs) === 0) return null
    const bottom = BigInt(part?.low as bigint)
    const goesOn = await read(bottom, top)
    if (!goesOn || Number(part?.runs) < portion) return null
    top = bottom
    const nowMs = clock.steadyMs()
    if (nowMs >= endMs) return top
    if (nowMs - beganMs < portionMs) portion = Math.min(2 * portion, portionMax)
  }
}
