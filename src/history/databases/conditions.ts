/**
 * From a filter to SQL: the condition of each field, and the ways to find the runs. A way walks one index. Most indexes are in the
 * order of time for one value; those for a range of values are not, so they serve only ranges with few runs.
 */
import type { HistoryFilter } from '../../ports/index.ts'
import { clean, timeOfId } from './rows.ts'
import type { Sql, SqlValue } from './sql.ts'

export interface Condition {
  text: string
  values: SqlValue[]
}

export interface Way {
  /** Name of its index; undefined: the primary key. */
  index?: string
  /** Runs are found by their tag. */
  byTag?: boolean
  /** What the index answers by itself. */
  conditions: Condition[]
  /** False: its runs are not in the order of time. */
  isOrdered: boolean
  /** The index is in the order of finished_at and id, not of id alone. */
  byFinishedAt?: boolean
}

export interface Plan {
  /** Ways for this filter, best ones first if equal. The last one walks all runs. */
  ways: Way[]
  /** All conditions but those of the time. */
  conditions: Condition[]
}

const where = (text: string, ...values: SqlValue[]): Condition => ({ text, values })

/** The condition of a tag where the runs are not found by it. */
const hasTag = 'EXISTS (SELECT 1 FROM duelog_run_tags x WHERE x.tag = ? AND x.id = r.id)'

/** The conditions of the plan that the way does not answer. */
export const restOf = ({ conditions }: Plan, way: Way): Condition[] =>
  conditions.filter(({ text }) => (way.byTag !== true || text !== hasTag) && !way.conditions.some((own) => own.text === text))

export function planOf(given: HistoryFilter, dialect: Sql['dialect']): Plan {
  const filter = withCleanTexts(given)
  const { jobId, idPrefix, tag, handler, pool, outcome, errorType, errorText, minDurationMs, maxDurationMs, harmless } = filter
  const ways: Way[] = []
  const conditions: Condition[] = []
  const add = (condition: Condition, way?: Omit<Way, 'conditions'>, ...more: Condition[]): void => {
    conditions.push(condition)
    if (way !== undefined) ways.push({ ...way, conditions: [condition, ...more] })
  }
  if (jobId !== undefined) add(where('r.job_id = ?', jobId), { index: 'job', isOrdered: true })
  if (tag !== undefined) {
    conditions.push(where(hasTag, tag))
    ways.push({ byTag: true, conditions: [where('t.tag = ?', tag)], isOrdered: true })
  }
  if (idPrefix !== undefined) {
    const end = endOfPrefix(idPrefix)
    const condition =
      end === undefined ? where('r.job_id >= ?', idPrefix) : where('r.job_id >= ? AND r.job_id < ?', idPrefix, end)
    add(condition, { index: 'job', isOrdered: false })
  }
  const failed = where('r.error_type IS NOT NULL')
  if (errorType !== undefined) add(where('r.error_type = ?', errorType), { index: 'error', isOrdered: true }, failed)
  if (outcome !== undefined && outcome !== 'SUCCEEDED')
    add(where('r.outcome = ?', outcome), { index: 'outcome', isOrdered: true }, where("r.outcome <> 'SUCCEEDED'"))
  if (errorText !== undefined) {
    // Both lower ASCII letters alone, and so does the text here.
    const found = dialect === 'sqlite' ? 'instr(lower(r.error_message), ?)' : 'strpos(lower(r.error_message COLLATE "C"), ?)'
    const lowered = errorText.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    conditions.push(where(`${found} > 0`, lowered))
    ways.push({ index: 'failed', conditions: [failed], isOrdered: true, byFinishedAt: true })
  }
  if (minDurationMs !== undefined || maxDurationMs !== undefined) {
    const range = where('r.duration_ms >= ? AND r.duration_ms <= ?', minDurationMs ?? 0, maxDurationMs ?? Number.MAX_SAFE_INTEGER)
    add(range, { index: 'duration', isOrdered: false }, where('r.duration_ms IS NOT NULL'))
  }
  if (handler !== undefined) add(where('r.handler = ?', handler), { index: 'handler', isOrdered: true })
  if (pool !== undefined) add(where('r.pool = ?', pool), { index: 'pool', isOrdered: true })
  if (outcome === 'SUCCEEDED') conditions.push(where('r.outcome = ?', outcome))
  if (harmless === true) conditions.push(where('r.may_hold_secrets = 0'))
  return { ways: [...ways, { conditions: [], isOrdered: true }], conditions }
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
  id: string
  order: string
}

/** The runs of a way from `low` up to, but not including, `high`. `rest`: conditions besides those of the way; undefined: only ids are read. */
export function sourceOf(
  way: Way,
  rest: readonly Condition[] | undefined,
  low: bigint,
  high: bigint,
  dialect: Sql['dialect'],
): Source {
  const id = way.byTag ? 't.id' : 'r.id'
  const forced = dialect === 'sqlite' && way.index !== undefined ? ` INDEXED BY duelog_runs_${way.index}` : ''
  // SQLite takes the tables of a CROSS JOIN in this order.
  const join = dialect === 'sqlite' ? 'CROSS JOIN' : 'JOIN'
  const tagged = `duelog_run_tags t${rest === undefined ? '' : ` ${join} duelog_runs r ON r.id = t.id`}`
  // An id that was taken got the next one, so its time may be a millisecond later.
  const times = where('r.finished_at >= ? AND r.finished_at <= ?', timeOfId(low) - 1, timeOfId(high))
  const ids = where(`${id} >= ? AND ${id} < ?`, low, high)
  const all = [...way.conditions, ...(rest ?? []), ...(way.byFinishedAt ? [times] : []), ids]
  return {
    id,
    text: `FROM ${way.byTag ? tagged : `duelog_runs r${forced}`} WHERE ${all.map(({ text }) => text).join(' AND ')}`,
    values: all.flatMap(({ values }) => values),
    order: way.byFinishedAt ? 'r.finished_at DESC, r.id DESC' : `${id} DESC`,
  }
}
