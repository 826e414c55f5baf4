/** Counts of runs by time and outcome: by the table of counts, by indexes alone, or by the rows. */
import type { HistoryCounts, HistoryFilter } from '../../../ground/ports/index.ts'
import { type Plan, planOf, type Range, rowsFor, sourceOf, type Way, withCleanTexts } from './conditions.ts'
import { hashBits, idAt, timeOfId } from './rows.ts'
import { fewWayOf, furthestOf, hourMs, ofCounts, portionMs, type Search, type SearchClock, searchMsMax, walk } from './search.ts'
import type { Sql, SqlRow, SqlValue } from './sql.ts'

/** Entries of a range of values that are counted without their rows. */
const countedMax = 300_000
/** Buckets that are counted one by one in a statement. Each is three values of it. */
const bucketsMax = 1_000
/** Entries of the first part of the time that is counted. Later parts are up to 64 times as long: older runs may be closer together. */
const countedFirst = 20_000
const spansGrowth = 64
/** If the entries are asked of other indexes too, the first part is shorter. */
const probedShare = 4
const bucketOfId = `(e.id >> ${hashBits}) - (e.id >> ${hashBits}) % ?`

/** By the table of counts if it can answer, and by the runs otherwise. */
export async function searchCounts(
  sql: Sql,
  clock: SearchClock,
  filter: HistoryFilter & { from: number; to: number },
  bucketMs: number,
): Promise<HistoryCounts> {
  const counts = new Counts()
  const search: Search = { sql, clock, endMs: clock.steadyMs() + searchMsMax, low: idAt(filter.from), high: idAt(filter.to) }
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
  const byIds = await countByIds(search, filter, bucketMs, counts)
  if (typeof byIds === 'object') return byIds.countedFrom
  const plan = planOf(filter, sql.dialect, rowsFor(filter))
  const add = async (way: Way, range: Range): Promise<boolean> => {
    counts.add(await countedRows(sql, plan, way, range, bucketMs))
    return true
  }
  const few = byIds === 'many' ? undefined : await fewWayOf(search, plan)
  const endedAt = few === undefined ? await walk(search, plan, add) : await add(few, search).then(() => null)
  return endedAt === null ? null : timeOfId(endedAt)
}

function countedRows(sql: Sql, plan: Plan, way: Way, range: Range, bucketMs: number): Promise<SqlRow[]> {
  const { text, values, row } = sourceOf(plan, way, range, true)
  const select = `SELECT ${bucketOfId} AS bucket, ${row}.outcome AS outcome, count(*) AS runs ${text} GROUP BY 1, 2`
  return sql.all(select, [bucketMs, ...values])
}

/**
 * Counts by indexes alone, which know what runs there are, but not how they ended: those that have not failed have succeeded.
 * Undefined: this filter needs the rows. `many`: so it does, and a range of values has too many entries to sort them.
 */
async function countByIds(
  search: Search,
  filter: HistoryFilter,
  bucketMs: number,
  counts: Counts,
): Promise<{ countedFrom: number | null } | 'many' | undefined> {
  const { sql, clock } = search
  const { outcome: wanted, ...others } = filter
  const plan = planOf(others, sql.dialect, 'duelog_runs')
  const ranges = plan.ways.filter(({ isOrdered }) => !isOrdered)
  const isByIds = plan.conditions.every(
    ({ probe, field }) => field !== 'errorType' && (probe !== undefined || ranges.some(({ fields }) => fields.includes(field))),
  )
  if (!isByIds || plan.conditions.length === 0 || ranges.length > 1) return undefined
  if (wanted !== undefined && wanted !== 'SUCCEEDED') return undefined
  const failed = planOf(others, sql.dialect, 'duelog_failed_runs')
  const subtract = async (range: Range, field?: keyof HistoryFilter): Promise<void> => {
    const way = failed.ways.find(({ fields, isTable }) => isTable || fields.some((own) => own === 'tag' || own === field)) as Way
    for (const { bucket, outcome, runs } of await countedRows(sql, failed, way, range, bucketMs)) {
      if (outcome === 'SUCCEEDED') continue
      counts.plus(Number(bucket), 'SUCCEEDED', -Number(runs))
      if (wanted === undefined) counts.plus(Number(bucket), String(outcome), Number(runs))
    }
  }
  if (ranges.length > 0) {
    const beganMs = clock.steadyMs()
    let way = await fewWayOf(search, plan)
    // A machine that was slow with these entries would take long for more.
    const goesOn = plan.conditions.length === 1 && clock.steadyMs() - beganMs < 3 * portionMs
    if (way === undefined && goesOn) way = await fewWayOf(search, plan, countedMax)
    if (way === undefined) return 'many'
    const { text, values } = sourceOf(plan, way, search, false)
    const select = `SELECT ${bucketOfId} AS bucket, 'SUCCEEDED' AS outcome, count(*) AS runs ${text} GROUP BY 1`
    counts.add(await sql.all(select, [bucketMs, ...values]))
    await subtract(search)
    return { countedFrom: null }
  }
  return { countedFrom: await countSpans(search, plan, bucketMs, counts, subtract) }
}

/** Newest runs first, in spans of time with about the same number of entries. Resolves with the time down to which it came; null: all. */
async function countSpans(
  search: Search,
  plan: Plan,
  bucketMs: number,
  counts: Counts,
  subtract: (range: Range, field?: keyof HistoryFilter) => Promise<void>,
): Promise<number | null> {
  const { sql, clock, endMs, low, high } = search
  const first = await furthestOf(sql, plan, search, countedFirst)
  if (first === undefined) return null
  const { way, bottom: reached, newest } = first
  const from = timeOfId(low)
  // Few entries are faster to join than the table of failed runs is to read.
  const rare = reached === low ? way.fields[0] : undefined
  // Questions to other indexes take longer.
  const share = plan.conditions.length > 1 ? probedShare : 1
  let top = Math.min(timeOfId(high), timeOfId(newest) + 1)
  let spanMs = Math.max(1, Math.ceil((top - timeOfId(reached)) / share))
  const spanMsMax = spanMs * spansGrowth * share
  while (top > from) {
    const beganMs = clock.steadyMs()
    const bottom = Math.max(from, top - Math.min(spanMs, bucketMs * bucketsMax))
    for (const { bucket, runs } of await countedIds(sql, plan, way, { from: bottom, to: top }, bucketMs))
      counts.plus(Number(bucket), 'SUCCEEDED', Number(runs))
    await subtract({ low: idAt(bottom), high: idAt(top) }, rare)
    top = bottom
    const nowMs = clock.steadyMs()
    if (nowMs >= endMs && top > from) return top
    if (nowMs - beganMs < portionMs) spanMs = Math.min(2 * spanMs, spanMsMax)
    else if (nowMs - beganMs > 2 * portionMs) spanMs = Math.max(1, Math.ceil(spanMs / 2))
  }
  return null
}

/** One count of an index for each bucket, which is faster than grouping its entries. */
function countedIds(
  sql: Sql,
  plan: Plan,
  way: Way,
  { from, to }: { from: number; to: number },
  bucketMs: number,
): Promise<SqlRow[]> {
  const lowest = from - (from % bucketMs)
  const starts = Array.from({ length: Math.ceil((to - lowest) / bucketMs) }, (_, index) => lowest + index * bucketMs)
  const { text, values } = sourceOf(plan, way, { low: 'b.low', high: 'b.high' }, false)
  const row = '(CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS BIGINT))'
  const list = `(SELECT column1 AS bucket, column2 AS low, column3 AS high FROM (VALUES ${starts.map(() => row).join(', ')}) v) b`
  const select = `SELECT b.bucket AS bucket, (SELECT count(*) ${text}) AS runs FROM ${list}`
  const bounds = starts.flatMap((at): SqlValue[] => [at, idAt(Math.max(at, from)), idAt(Math.min(at + bucketMs, to))])
  return sql.all(select, [...values, ...bounds])
}
