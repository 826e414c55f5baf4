/**
 * Searches in portions, newest first: each portion walks a bounded part of one index, and the search ends when its time is over. So no
 * query runs for long, whatever it filters, and a caller continues where it ended. Each portion takes the way that gets furthest.
 */
import type { HistoryFilter, HistoryPage } from '../../../ground/ports/index.ts'
import { entriesOf, type Plan, planOf, type Range, rowsFor, sourceOf, type Way } from './conditions.ts'
import { idAt, runOf, timeOfId } from './rows.ts'
import type { Sql, SqlRow } from './sql.ts'

/** After this time a search ends with the portion that it has begun. */
export const searchMsMax = 700
/** Runs of a range of values that are sorted. Ranges with more are not used as a way. */
const sortedMax = 50_000
const portionFirst = 2_000
const portionMax = 100_000
/** A portion that takes less is followed by one that is twice as long. */
export const portionMs = 60
export const hourMs = 3_600_000

/** Fields of the table of counts. */
export const ofCounts: ReadonlySet<string> = new Set(['from', 'to', 'handler', 'pool', 'outcome'])

export interface SearchClock {
  steadyMs(): number
}

export interface Search extends Range {
  sql: Sql
  clock: SearchClock
  /** It ends with the portion that it has begun by then. */
  endMs: number
}

export async function searchPage(
  sql: Sql,
  clock: SearchClock,
  filter: HistoryFilter,
  limit: number,
  before: bigint | null,
): Promise<HistoryPage> {
  const high = filter.to === undefined ? idAt(Number.POSITIVE_INFINITY) : idAt(filter.to)
  const low = idAt(filter.from ?? 0)
  const endMs = clock.steadyMs() + searchMsMax
  const search: Search = { sql, clock, endMs, low, high: before !== null && before < high ? before : high }
  const plan = planOf(filter, sql.dialect, rowsFor(filter))
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

/** The way whose runs are all wanted, or few: the limit of the page bounds the work. */
async function wholeWayOf(search: Search, plan: Plan): Promise<Way | undefined> {
  const whole = plan.ways.find(
    ({ isOrdered, isExact, fields }) => isOrdered && isExact && plan.conditions.every(({ field }) => fields.includes(field)),
  )
  return whole ?? fewWayOf(search, plan)
}

/** A range of values with few runs of all times: among more of them, those of a short time would be hard to find. */
export async function fewWayOf({ sql }: Search, plan: Plan, max = sortedMax): Promise<Way | undefined> {
  for (const way of plan.ways.filter(({ isOrdered }) => !isOrdered)) {
    const { text, values } = entriesOf(plan, way)
    const [counted] = await sql.all(`SELECT count(*) AS runs FROM (SELECT 1 AS one ${text} LIMIT ${max + 1}) x`, values)
    if (Number(counted?.runs) <= max) return way
  }
  return undefined
}

/**
 * Calls `read` for parts of the time, newest first, until it resolves false. Resolves with the id below which nothing was read, and
 * with null at the end.
 */
export async function walk(
  { sql, clock, endMs, low, high }: Search,
  plan: Plan,
  read: (way: Way, range: Range) => Promise<boolean>,
): Promise<bigint | null> {
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
    else if (nowMs - beganMs > 2 * portionMs) portion = Math.max(portionFirst, Math.floor(portion / 2))
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

interface Furthest {
  way: Way
  /** Id down to which its next entries go. */
  bottom: bigint
  /** Id of the first of them. */
  newest: bigint
}

/** The way whose next entries reach back furthest: the rarest one here. Undefined: one of them has no more entries, so no run matches. */
export async function furthestOf(sql: Sql, plan: Plan, range: Range, portion: number): Promise<Furthest | undefined> {
  const ordered = plan.ways.filter(({ isOrdered }) => isOrdered)
  // All runs are never rarer than those of an index.
  const ways = plan.rows === 'duelog_runs' && ordered.length > 1 ? ordered.slice(0, -1) : ordered
  let furthest: Furthest | undefined
  for (const way of ways) {
    const { text, values } = entriesOf(plan, way, range)
    const ids = `SELECT e.id AS id ${text} ORDER BY e.id DESC LIMIT ?`
    const [part] = await sql.all(`SELECT min(id) AS low, max(id) AS high, count(*) AS runs FROM (${ids}) x`, [...values, portion])
    const runs = Number(part?.runs)
    if (runs === 0) return undefined
    const bottom = runs < portion ? range.low : BigInt(part?.low as bigint)
    const isFurther = furthest === undefined || bottom < furthest.bottom
    // The table of failed runs has what an index of the same runs would look up in it.
    const isAsFar = way.isTable && bottom === furthest?.bottom
    if (isFurther || isAsFar) furthest = { way, bottom, newest: BigInt(part?.high as bigint) }
    if (bottom === range.low) break
  }
  return furthest
}
