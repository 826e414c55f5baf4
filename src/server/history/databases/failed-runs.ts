/**
 * The tables of failed runs and of their tags: what filters ask for, of the few runs that failed, side by side. A search among them reads
 * megabytes where the rows of the runs would be gigabytes.
 */
import type { RunRow } from './rows.ts'
import type { Sql } from './sql.ts'

const columns = 'id, job_id, outcome, handler, pool, error_type, error_message, duration_ms, may_hold_secrets'
/** A run with an error belongs to it too, whatever its outcome: anybody with the right may write to the topic. */
const isFailed = `(outcome <> 'SUCCEEDED' OR error_type IS NOT NULL OR error_message IS NOT NULL)`
/** Adds all failed runs. */
export const filled = `INSERT INTO duelog_failed_runs (${columns}) SELECT ${columns} FROM duelog_runs WHERE ${isFailed}`
/** Adds the tags of all failed runs. The column has them as JSON, so no index of tags is walked. */
export function filledTags(dialect: Sql['dialect']): string {
  const tags = dialect === 'sqlite' ? 'json_each(tags) t' : 'json_array_elements_text(tags::json) AS t(value)'
  return `INSERT INTO duelog_failed_run_tags (tag, id) SELECT t.value, duelog_runs.id FROM duelog_runs, ${tags} WHERE ${isFailed}`
}
/** `keyed`: what makes the key the table. */
export const failedTables = (id: string, key: string, keyed: string): string[] => [
  `CREATE TABLE duelog_failed_runs (
    id ${id} PRIMARY KEY, job_id ${key} NOT NULL, outcome ${key} NOT NULL, handler ${key}, pool ${key}, error_type ${key},
    error_message TEXT, duration_ms BIGINT, may_hold_secrets SMALLINT NOT NULL)`,
  `CREATE TABLE duelog_failed_run_tags (tag ${key} NOT NULL, id BIGINT NOT NULL, PRIMARY KEY (tag, id))${keyed}`,
]

/** Spares the database to look at runs that have not. */
export const mayHaveFailed = ({ outcome, hasError }: RunRow): boolean => hasError || outcome !== 'SUCCEEDED'

/** Those of these runs that failed, which are in the table of runs already. */
export async function writeFailed(sql: Sql, ids: readonly bigint[]): Promise<void> {
  if (ids.length === 0) return
  const condition = `duelog_runs.id IN (${ids.map(() => '?').join(', ')})`
  await sql.all(`${filled} AND ${condition} ON CONFLICT (id) DO NOTHING`, ids)
  await sql.all(`${filledTags(sql.dialect)} AND ${condition} ON CONFLICT (tag, id) DO NOTHING`, ids)
}
