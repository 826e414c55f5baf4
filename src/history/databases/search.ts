/**
 * Searches in portions, newest first: each portion walks a bounded part of one index, and the search ends when its time is over. So no
 * query runs for long, whatever it filters, and a caller continues where it ended. Each portion takes the way that gets furthest.
 */
import type { HistoryCounts, HistoryFilter, HistoryPage } from '../../ports/index.ts'
import { entriesOf, type Plan, planOf, type Range, rowsFor, sourceOf, type Way, withCleanTexts } from './conditions.ts'
import { isFilledFrom } from './failed-runs.ts'
import { hashBits, idAt, runOf, timeOfId } from './rows.ts'
import type { Sql, SqlRow, SqlValue } from './sql.ts'

/** After this time a search ends with the portion that it has begun. */
export const searchMsMax = 700
/** Runs of a range of values that are sorted. Ranges with more are not used as a way. */
const sortedMax = 50_000
const portionFirst = 2_000
const portionMax = 100_000
/** A portion that takes less is followed by one that is twice as long. */
const portionMs = 60
const hourMs = 3_600_000
/** The same for buckets that are counted one by one. Each is three values of a statement. */
const bucketsFirst = 50
const bucketsMax = 1_000

export interface SearchClock {
  steadyMs(): number
}

interface Search extends Range {
  sql: Sql
  clock: SearchClock
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
  const plan = planOf(filter, sql.dialect, rowsFor(filter, await isFilledFrom(sql, search.low)))
  const found: SqlRow[] = []
  // One more than the page shows whether there is a next one.
  const read = async (way: Way, range: Range): Promise<boolean> => {
    const { text, values } = sourceOf(plan, way, range, false)
    const ids = `SELECT e.id ${text} ORDER BY e.id DESC LIMIT ?`
    const rows = `SELECT r.* FROM duelog_runs r WHERE r.id IN (${ids}) ORDER BY r.id DESC`
    found.push(...(await sql.all(rows, [...values, limit + 1 - found.length])))
    return found.length <= limit
  }
  const whole = await wholeWayOf(search, plan)
  const endedAt = whole === undefined ? await walk(search, plan, read) : await read(whole, search).then(() => null)
  const runs = found.slice(0, limit).map(runOf)
  if (found.length > limit) {
    const last = found[limit - 1]?.id as bigint | number | string
    return { runs, next: String(last), searchedTo: timeOfId(BigInt(last)) }
  }
  return { runs, next: endedAt === null ? null : String(endedAt), searchedTo: endedAt === null ? null : timeOfId(endedAt) }
}

/** By the table of counts if it can answer, and by the runs otherwise. */
export async function searchCounts(
  sql: Sql,
  clock: SearchClock,
  filter: HistoryFilter & { from: number; to: number },
  bucketMs: number,
): Promise<HistoryCounts> {
  const counts = new Counts()
  const search: Search = { sql, clock, low: idAt(filter.from), high: idAt(filter.to) }
  const countedFrom =
    bucketMs % hourMs === 0 && isOfCounts(filter)
      ? await fromCounts(sql, filter, bucketMs, counts)
      : await fromRuns(search, filter, bucketMs, counts)
  return { buckets: counts.buckets(), countedFrom }
}

/** Numbers of runs by bucket and outcome. */
class Counts {
  readonly #counts = new Map<number, Map<string, number>>()

  add(rows: readonly SqlRow[]): void {
    for (const { bucket, outcome, runs } of rows) this.plus(Number(bucket), String(outcome), Number(runs))
  }

  plus(at: number, outcome: string, runs: number): void {
    const outcomes = this.#counts.get(at) ?? new Map<string, number>()
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + runs)
    this.#counts.set(at, outcomes)
  }

  buckets(): HistoryCounts['buckets'] {
    return [...this.#counts]
      .map(([at, outcomes]) => ({ at, outcomes: Object.fromEntries([...outcomes].filter(([, runs]) => runs > 0)) }))
      .filter(({ outcomes }) => Object.keys(outcomes).length > 0)
      .sort((a, b) => a.at - b.at)
  }
}

/** Fields of the table of counts. */
const ofCounts: ReadonlySet<string> = new Set(['from', 'to', 'handler', 'pool', 'outcome'])
const isOfCounts = (filter: HistoryFilter): boolean =>
  Object.entries(filter).every(([name, value]) => value === undefined || ofCounts.has(name))

async function fromCounts(
  sql: Sql,
  { from, to, ...filter }: HistoryFilter & { from: number; to: number },
  bucketMs: number,
  counts: Counts,
): Promise<null> {
  const given = Object.entries(withCleanTexts(filter)).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const conditions = ['hour >= ?', 'hour < ?', ...given.map(([name]) => `${name} = ?`)].join(' AND ')
  const text = `SELECT hour - hour % ? AS bucket, outcome, sum(runs) AS runs FROM duelog_run_counts WHERE ${conditions} GROUP BY 1, 2`
  counts.add(await sql.all(text, [bucketMs, from, to, ...given.map(([, value]) => value)]))
  return null
}

/** Resolves with the time down to which runs were counted; null: all. A bucket that is counted in part is counted as far as it is. */
async function fromRuns(search: Search, filter: HistoryFilter, bucketMs: number, counts: Counts): Promise<number | null> {
  const { sql } = search
  const isFilled = await isFilledFrom(sql, search.low)
  const byIds = isFilled ? await countByIds(search, filter, bucketMs, counts) : undefined
  if (byIds !== undefined) return byIds.countedFrom
  const plan = planOf(filter, sql.dialect, rowsFor(filter, isFilled))
  const add = async (way: Way, range: Range): Promise<boolean> => {
    counts.add(await countedRows(sql, plan, way, range, bucketMs))
    return true
  }
  const few = await fewWayOf(search, plan)
  const endedAt = few === undefined ? await walk(search, plan, add) : await add(few, search).then(() => null)
  return endedAt === null ? null : timeOfId(endedAt)
}

function countedRows(sql: Sql, plan: Plan, way: Way, range: Range, bucketMs: number): Promise<SqlRow[]> {
  const { text, values, row } = sourceOf(plan, way, range, true)
  const bucket = `(e.id >> ${hashBits}) - (e.id >> ${hashBits}) % ? AS bucket`
  return sql.all(`SELECT ${bucket}, ${row}.outcome AS outcome, count(*) AS runs ${text} GROUP BY 1, 2`, [bucketMs, ...values])
}

/**
 * Counts by indexes alone, which know what runs there are, but not how they ended: those that have not failed have succeeded, if none is
 * only dispatched. Undefined: this filter needs the rows.
 */
async function countByIds(
  search: Search,
  filter: HistoryFilter,
  bucketMs: number,
  counts: Counts,
): Promise<{ countedFrom: number | null } | undefined> {
  const { sql, clock, low, high } = search
  const { outcome: wanted, ...others } = filter
  const plan = planOf(others, sql.dialect, 'duelog_runs')
  const isByIds = plan.conditions.every(({ probe, field }) => probe !== undefined && field !== 'errorType')
  if (!isByIds || plan.conditions.length === 0 || (wanted !== undefined && wanted !== 'SUCCEEDED')) return undefined
  const [from, to] = [timeOfId(low), timeOfId(high)]
  const dispatched = "SELECT 1 AS found FROM duelog_run_counts WHERE hour >= ? AND hour < ? AND outcome = 'DISPATCHED' LIMIT 1"
  if ((await sql.all(dispatched, [from - (from % hourMs), to])).length > 0) return undefined
  const way = (await furthestOf(sql, plan, search, portionMax))?.way
  if (way === undefined) return { countedFrom: null }
  const failed = planOf(others, sql.dialect, 'duelog_failed_runs')
  const endMs = clock.steadyMs() + searchMsMax
  let buckets = bucketsFirst
  for (let top = to; top > from; ) {
    const beganMs = clock.steadyMs()
    const bottom = Math.max(from, top - buckets * bucketMs)
    for (const { bucket, runs } of await countedIds(sql, plan, way, { from: bottom, to: top }, bucketMs))
      counts.plus(Number(bucket), 'SUCCEEDED', Number(runs))
    const range = { low: idAt(bottom), high: idAt(top) }
    for (const { bucket, outcome, runs } of await countedRows(sql, failed, failed.ways.at(-1) as Way, range, bucketMs)) {
      if (outcome === 'SUCCEEDED') continue
      counts.plus(Number(bucket), 'SUCCEEDED', -Number(runs))
      if (wanted === undefined) counts.plus(Number(bucket), String(outcome), Number(runs))
    }
    top = bottom
    const nowMs = clock.steadyMs()
    if (nowMs >= endMs && top > from) return { countedFrom: top }
    if (nowMs - beganMs < portionMs) buckets = Math.min(2 * buckets, bucketsMax)
  }
  return { countedFrom: null }
}

/** One count of an index for each bucket, which is faster than grouping its entries. */
function countedIds(
  sql: Sql,
  plan: Plan,
  way: Way,
  { from, to }: { from: number; to: number },
  bucketMs: number,
): Promise<SqlRow[]> {
  const starts = Array.from({ length: Math.ceil((to - from) / bucketMs) }, (_, index) => from + index * bucketMs)
  const { text, values } = sourceOf(plan, way, { low: 'b.low', high: 'b.high' }, false)
  const row = '(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))'
  const list = `(SELECT column1 AS bucket, column2 AS low, column3 AS high FROM (VALUES ${starts.map(() => row).join(', ')}) v) b`
  const select = `SELECT b.bucket AS bucket, (SELECT count(*) ${text}) AS runs FROM ${list}`
  return sql.all(select, [...values, ...starts.flatMap((at): SqlValue[] => [at, idAt(at), idAt(at + bucketMs)])])
}

/** The way whose runs are all wanted, or few: the limit of the page bounds the work. */
async function wholeWayOf(search: Search, plan: Plan): Promise<Way | undefined> {
  const whole = plan.ways.find(
    ({ isOrdered, isExact, fields }) => isOrdered && isExact && plan.conditions.every(({ field }) => fields.includes(field)),
  )
  return whole ?? fewWayOf(search, plan)
}

/** A range of values with few runs of all times: among more of them, those of a short time would be hard to find. */
async function fewWayOf({ sql }: Search, plan: Plan): Promise<Way | undefined> {
  for (const way of plan.ways.filter(({ isOrdered }) => !isOrdered)) {
    const { text, values } = entriesOf(plan, way)
    const [counted] = await sql.all(`SELECT count(*) AS runs FROM (SELECT 1 AS one ${text} LIMIT ${sortedMax + 1}) x`, values)
    if (Number(counted?.runs) <= sortedMax) return way
  }
  return undefined
}

/**
 * Calls `read` for parts of the time, newest first, until it resolves false. Resolves with the id below which nothing was read, and
 * with null at the end.
 */
async function walk(
  { sql, clock, low, high }: Search,
  plan: Plan,
  read: (way: Way, range: Range) => Promise<boolean>,
): Promise<bigint | null> {
  const endMs = clock.steadyMs() + searchMsMax
  let top = high
  let bottom: bigint | undefined = low
  let portion = portionFirst
  for (;;) {
    const beganMs = clock.steadyMs()
    const furthest = await furthestOf(sql, plan, { low: bottom, high: top }, portion)
    if (furthest === undefined) return null
    const goesOn = await read(furthest.way, { low: furthest.bottom, high: top })
    if (!goesOn || furthest.bottom <= bottom) return null
    // Once: what a portion does not find may be rare, and then the table of counts knows where it is not.
    if (top === high) bottom = await lowestOf(sql, plan, { low, high: furthest.bottom })
    if (bottom === undefined) return null
    top = furthest.bottom
    const nowMs = clock.steadyMs()
    if (nowMs >= endMs) return top
    if (nowMs - beganMs < portionMs) portion = Math.min(2 * portion, portionMax)
  }
}

/** The oldest id that a run of these handlers, pools and outcomes can have, by the table of counts. Undefined: there is none. */
async function lowestOf(sql: Sql, { conditions }: Plan, { low, high }: Range): Promise<bigint | undefined> {
  const known = conditions.filter(({ field }) => ofCounts.has(field))
  if (known.length < 2) return low
  const [from, to] = [timeOfId(low), timeOfId(high)]
  const text = known.map((condition) => ` AND ${condition.text.replaceAll('{e}', 'c')}`).join('')
  const oldest = `SELECT min(hour) AS hour FROM duelog_run_counts c WHERE hour >= ? AND hour <= ?${text}`
  const [found] = await sql.all(oldest, [from - (from % hourMs), to, ...known.flatMap(({ values }) => values)])
  if (found?.hour == null) return undefined
  const lowest = idAt(Number(found.hour))
  return lowest > low ? lowest : low
}

/** The way whose next entries reach back furthest: the rarest one here. Undefined: one of them has no more entries, so no run matches. */
async function furthestOf(
  sql: Sql,
  plan: Plan,
  range: Range,
  portion: number,
): Promise<{ way: Way; bottom: bigint } | undefined> {
  const ordered = plan.ways.filter(({ isOrdered }) => isOrdered)
  // All runs are never rarer than those of an index.
  const ways = plan.rows === 'duelog_runs' && ordered.length > 1 ? ordered.slice(0, -1) : ordered
  let furthest: { way: Way; bottom: bigint } | undefined
  for (const way of ways) {
    const { text, values } = entriesOf(plan, way, range)
    const ids = `SELECT e.id AS id ${text} ORDER BY e.id DESC LIMIT ?`
    const [part] = await sql.all(`SELECT min(id) AS low, count(*) AS runs FROM (${ids}) x`, [...values, portion])
    const runs = Number(part?.runs)
    if (runs === 0) return undefined
    const bottom = runs < portion ? range.low : BigInt(part?.low as bigint)
    if (furthest === undefined || bottom < furthest.bottom) furthest = { way, bottom }
    if (bottom === range.low) break
  }
  return furthest
}
