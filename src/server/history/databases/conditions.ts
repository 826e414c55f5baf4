/**
 * From a filter to SQL: the condition of each field, and the ways to find the runs. A way walks one index or the table of failed runs,
 * nearly always in the order of time. What it does not answer itself is asked of other indexes by the id of the run, and only the rest
 * needs the run itself.
 */
import type { HistoryFilter } from '../../../ground/ports/index.ts'
import { clean } from './rows.ts'
import type { Sql, SqlValue } from './sql.ts'

/** `{e}` in texts is the table whose columns and id are asked. */
export interface Condition {
  field: keyof HistoryFilter
  text: string
  values: SqlValue[]
  /** The same by an index and the id of the run alone. Absent: no index has it. `` is where the ids can be. */
  probe?: string
}

export interface Way {
  /** After FROM, with the name `e`. */
  table: string
  /** Fields that it answers itself. */
  fields: readonly (keyof HistoryFilter)[]
  /** What the index needs besides. */
  also?: string
  /** False: its runs are not in the order of time, so it serves only if they are few. */
  isOrdered: boolean
  /** False: runs that do not match lie between those that do. */
  isExact: boolean
  /** Whether it walks the rows themselves. */
  isTable: boolean
}

export interface Plan {
  conditions: Condition[]
  /** Ways for this filter. The last one walks all runs, or all failed ones. */
  ways: Way[]
  /** Table with the rows of all runs that can match. */
  rows: 'duelog_runs' | 'duelog_failed_runs'
  dialect: Sql['dialect']
}

/** The table that has all runs which the filter can match. */
export function rowsFor({ outcome, errorType, errorText }: HistoryFilter): Plan['rows'] {
  const hasFailed = outcome !== undefined && outcome !== 'SUCCEEDED'
  const isOfFailed = hasFailed || errorType !== undefined || errorText !== undefined
  return isOfFailed ? 'duelog_failed_runs' : 'duelog_runs'
}

export function planOf(given: HistoryFilter, dialect: Sql['dialect'], rows: Plan['rows']): Plan {
  const filter = withCleanTexts(given)
  const tags = rows === 'duelog_failed_runs' ? 'duelog_failed_run_tags' : 'duelog_run_tags'
  const conditions = conditionsOf(filter, dialect, tags)
  const ways = conditions.flatMap(({ field }) => wayOf(field, filter, dialect, tags) ?? [])
  const fields = conditions.map(({ field }) => field).filter((field) => field !== 'tag')
  const all: Way = { table: `${rows} e`, fields, isOrdered: true, isExact: conditions.length === 0, isTable: true }
  return { conditions, ways: [...ways, all], rows, dialect }
}

function conditionsOf(filter: HistoryFilter, dialect: Sql['dialect'], tags: string): Condition[] {
  const { idPrefix, errorText, minDurationMs, maxDurationMs } = filter
  const conditions: Condition[] = []
  const byIndex = (field: 'jobId' | 'handler' | 'pool' | 'outcome' | 'errorType', index: string, column: string): void => {
    const value = filter[field]
    if (value === undefined) return
    const part = partOf(field, 'x', dialect)
    const all = [`x.${column} = ?`, ...(part === undefined ? [] : [part]), 'x.id = {e}.id'].join(' AND ')
    const probe = `EXISTS (SELECT 1 FROM duelog_runs x${forced(index, dialect)} WHERE ${all})`
    // The index of outcomes lacks runs that succeeded, because nearly all did.
    const isIndexed = value !== 'SUCCEEDED' || field !== 'outcome'
    conditions.push({ field, text: `{e}.${column} = ?`, values: [value], ...(isIndexed && { probe }) })
  }
  byIndex('jobId', 'job', 'job_id')
  if (filter.tag !== undefined) {
    const text = `EXISTS (SELECT 1 FROM ${tags} x WHERE x.tag = ? AND x.id = {e}.id)`
    conditions.push({ field: 'tag', text: '{e}.tag = ?', values: [filter.tag], probe: text })
  }
  byIndex('errorType', 'error', 'error_type')
  byIndex('outcome', 'outcome', 'outcome')
  byIndex('handler', 'handler', 'handler')
  byIndex('pool', 'pool', 'pool')
  const end = idPrefix === undefined ? undefined : endOfPrefix(idPrefix)
  if (idPrefix !== undefined) {
    const [text, values] = end === undefined ? ['', []] : [' AND {e}.job_id < ?', [end]]
    conditions.push({ field: 'idPrefix', text: `{e}.job_id >= ?${text}`, values: [idPrefix, ...values] })
  }
  if (minDurationMs !== undefined || maxDurationMs !== undefined) {
    const values = [minDurationMs ?? 0, maxDurationMs ?? Number.MAX_SAFE_INTEGER]
    conditions.push({ field: 'minDurationMs', text: '{e}.duration_ms >= ? AND {e}.duration_ms <= ?', values })
  }
  if (errorText !== undefined) {
    // Both lower ASCII letters alone, and so does the text here.
    const message =
      dialect === 'sqlite' ? 'instr(lower({e}.error_message), ?)' : 'strpos(lower({e}.error_message COLLATE "C"), ?)'
    const lowered = errorText.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    conditions.push({ field: 'errorText', text: `${message} > 0`, values: [lowered] })
  }
  if (filter.harmless === true) conditions.push({ field: 'harmless', text: '{e}.may_hold_secrets = 0', values: [] })
  return conditions
}

/** SQLite takes this index and no other. PostgreSQL decides itself. */
const forced = (index: string, dialect: Sql['dialect']): string =>
  dialect === 'sqlite' ? ` INDEXED BY duelog_runs_${index}` : ''

/**
 * The condition of an index that has only a part of the runs. PostgreSQL finds it in the condition of the field, and would expect a
 * hundredth of the runs if it had both.
 */
function partOf(field: keyof HistoryFilter, table: string, dialect: Sql['dialect']): string | undefined {
  if (dialect === 'postgres') return undefined
  if (field === 'errorType') return `${table}.error_type IS NOT NULL`
  if (field === 'outcome') return `${table}.outcome <> 'SUCCEEDED'`
  return field === 'minDurationMs' ? `${table}.duration_ms IS NOT NULL` : undefined
}

const indexOf: Partial<Record<keyof HistoryFilter, string>> = {
  ...{ jobId: 'job', idPrefix: 'job', handler: 'handler', pool: 'pool' },
  ...{ outcome: 'outcome', errorType: 'error', minDurationMs: 'duration' },
}

/** Undefined: no index has the field. */
function wayOf(field: keyof HistoryFilter, { outcome }: HistoryFilter, dialect: Sql['dialect'], tags: string): Way | undefined {
  const isOrdered = field !== 'idPrefix' && field !== 'minDurationMs'
  if (field === 'tag') return { table: `${tags} e`, fields: [field], isOrdered, isExact: true, isTable: false }
  const index = indexOf[field]
  if (index === undefined || (field === 'outcome' && outcome === 'SUCCEEDED')) return undefined
  const table = `duelog_runs e${forced(index, dialect)}`
  const also = partOf(field, 'e', dialect)
  return { table, fields: [field], ...(also !== undefined && { also }), isOrdered, isExact: true, isTable: false }
}

/** Texts as they are in rows. PostgreSQL refuses a NUL as an error. */
export function withCleanTexts<Filter extends HistoryFilter>(filter: Filter): Filter {
  const entries = Object.entries(filter).map(([name, value]) => [name, typeof value === 'string' ? clean(value) : value])
  return Object.fromEntries(entries) as Filter
}

/** The first text after all with this prefix, by the bytes of UTF-8; undefined if there is none. */
function endOfPrefix(prefix: string): string | undefined {
  const points = Array.from(prefix, (point) => point.codePointAt(0) ?? 0)
  while (points.length > 0) {
    const last = points.pop() ?? 0
    // No text has a surrogate alone.
    const next = last === 0xd7ff ? 0xe000 : last + 1
    if (next <= 0x10ffff) return String.fromCodePoint(...points, next)
  }
  return undefined
}

export interface Source {
  /** `FROM … WHERE …` */
  text: string
  values: SqlValue[]
  /** Table that has the outcome: `e`, or `r` if the rows are joined; undefined: only indexes are read. */
  row: 'e' | 'r' | undefined
}

/** Ids from `low` up to, but not including, `high`. */
export interface Range {
  low: bigint
  high: bigint
}

/** The same in SQL, as columns of another table. */
interface RangeColumns {
  low: string
  high: string
}

/** What the way answers itself: ids alone. Without a range: of all times. */
export function entriesOf({ conditions }: Plan, way: Way, range?: Range): Source {
  const own = way.isExact ? conditions.filter(({ field }) => way.fields.includes(field)) : []
  return built(way, own, [], range, '')
}

/** The runs that match. `needsRow`: the source has their rows in any case. */
export function sourceOf(plan: Plan, way: Way, range: Range | RangeColumns, needsRow: boolean): Source {
  const { conditions, rows, dialect } = plan
  const own = conditions.filter(({ field }) => way.fields.includes(field))
  const rest = conditions.filter(({ field }) => !way.fields.includes(field))
  // The table of failed runs is small, and a run that is not in it does not match. So its rows are asked rather than indexes.
  const asked =
    rows === 'duelog_failed_runs' && !way.isTable
      ? rest.filter(({ field }) => field !== 'tag')
      : rest.filter(({ probe }) => probe === undefined)
  const probes = rest.filter((condition) => !asked.includes(condition))
  const probed = probes.map(({ probe = '', ...condition }) => ({ ...condition, text: probe }))
  // SQLite takes the tables of a CROSS JOIN in this order.
  const join = dialect === 'sqlite' ? 'CROSS JOIN' : 'JOIN'
  const joins = !way.isTable && (needsRow || asked.length > 0 || rows === 'duelog_failed_runs')
  const source = built(way, [...own, ...probed], asked, range, joins ? ` ${join} ${rows} r ON r.id = e.id` : '')
  return { ...source, row: way.isTable ? 'e' : joins ? 'r' : undefined }
}

function built(
  way: Way,
  own: readonly Condition[],
  asked: readonly Condition[],
  range: Range | RangeColumns | undefined,
  join: string,
): Source {
  const of = (table: string, conditions: readonly Condition[]): string[] =>
    conditions.map(({ text }) => text.replaceAll('{e}', table))
  const all = [...idsOf(range), ...(way.also === undefined ? [] : [way.also]), ...of('e', own), ...of('r', asked)]
  const bounds: SqlValue[] = typeof range?.low === 'bigint' ? [range.low, range.high] : []
  return {
    text: `FROM ${way.table}${join}${all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`}`,
    values: [...bounds, ...own.flatMap(({ values }) => values), ...asked.flatMap(({ values }) => values)],
    row: undefined,
  }
}

function idsOf(range: Range | RangeColumns | undefined): string[] {
  if (range === undefined) return []
  return typeof range.low === 'bigint' ? ['e.id >= ? AND e.id < ?'] : [`e.id >= ${range.low} AND e.id < ${range.high}`]
}
