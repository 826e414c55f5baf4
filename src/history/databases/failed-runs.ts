/**
 * The tables of failed runs and of their tags: what filters ask for, of the few runs that failed, side by side. A search among them reads
 * megabytes where the rows of the runs would be gigabytes. Databases of earlier releases are filled in steps, newest runs first.
 */
import type { RunRow } from './rows.ts'
import type { Database, Sql, SqlValue } from './sql.ts'

/** Outcomes of runs that have not failed. */
export const harmlessOutcomes: readonly string[] = ['SUCCEEDED', 'DISPATCHED']
const columns = 'id, job_id, outcome, handler, pool, error_type, error_message, duration_ms, may_hold_secrets'
/** A run with an error belongs to it too, whatever its outcome: anybody with the right may write to the topic. */
const isFailed = `(outcome NOT IN ('${harmlessOutcomes.join("', '")}') OR error_type IS NOT NULL OR error_message IS NOT NULL)`
/** Adds all failed runs. */
export const filled = `INSERT INTO duelog_failed_runs (${columns}) SELECT ${columns} FROM duelog_runs WHERE ${isFailed}`
/** Adds the tags of all failed runs. The column has them as JSON, so no index of tags is walked. */
export function filledTags(dialect: Sql['dialect']): string {
  const tags = dialect === 'sqlite' ? 'json_each(tags) t' : 'json_array_elements_text(tags::json) AS t(value)'
  return `INSERT INTO duelog_failed_run_tags (tag, id) SELECT t.value, duelog_runs.id FROM duelog_runs, ${tags} WHERE ${isFailed}`
}
/** The fact with the id from which on the tables have all failed runs. Absent: they have all. */
const fact = 'failed_from'
const fromNowOn = `INSERT INTO duelog_history (name, value) SELECT '${fact}', CAST(max(id) + 1 AS TEXT) FROM duelog_runs HAVING max(id) IS NOT NULL ON CONFLICT (name) DO UPDATE SET value = excluded.value`

export const failedTable = (id: string, key: string): string[] => [
  `CREATE TABLE duelog_failed_runs (
    id ${id} PRIMARY KEY, job_id ${key} NOT NULL, outcome ${key} NOT NULL, handler ${key}, pool ${key}, error_type ${key},
    error_message TEXT, duration_ms BIGINT, may_hold_secrets SMALLINT NOT NULL)`,
  fromNowOn,
]

/** `keyed`: what makes the key the table. */
export const failedTagsTable = (key: string, keyed: string): string[] => [
  `CREATE TABLE duelog_failed_run_tags (tag ${key} NOT NULL, id BIGINT NOT NULL, PRIMARY KEY (tag, id))${keyed}`,
  fromNowOn,
]

/** Spares the database to look at runs that have not. */
export const mayHaveFailed = ({ outcome, hasError }: RunRow): boolean => hasError || !harmlessOutcomes.includes(outcome)

/** Those of these runs that failed, which are in the table of runs already. */
export async function writeFailed(sql: Sql, ids: readonly bigint[]): Promise<void> {
  if (ids.length > 0) await writeWhere(sql, `duelog_runs.id IN (${ids.map(() => '?').join(', ')})`, ids)
}

async function writeWhere(sql: Sql, condition: string, values: readonly SqlValue[]): Promise<void> {
  await sql.all(`${filled} AND ${condition} ON CONFLICT (id) DO NOTHING`, values)
  await sql.all(`${filledTags(sql.dialect)} AND ${condition} ON CONFLICT (tag, id) DO NOTHING`, values)
}

/** One step of at most `limit` runs, newest ones first. Resolves with whether another one is needed. */
export function fillFailed(database: Database, limit: number): Promise<boolean> {
  return database.transaction(async (sql) => {
    const lock = sql.dialect === 'postgres' ? ' FOR UPDATE' : ''
    const [mark] = await sql.all(`SELECT value FROM duelog_history WHERE name = ?${lock}`, [fact])
    if (mark === undefined) return false
    const high = BigInt(mark.value as string)
    const next = 'SELECT min(id) AS low FROM (SELECT id FROM duelog_runs WHERE id < ? ORDER BY id DESC LIMIT ?) x'
    const low = (await sql.all(next, [high, limit]))[0]?.low ?? null
    if (low === null) {
      await sql.all('DELETE FROM duelog_history WHERE name = ?', [fact])
      return false
    }
    const range: SqlValue[] = [BigInt(low as bigint), high]
    await writeWhere(sql, 'duelog_runs.id >= ? AND duelog_runs.id < ?', range)
    await sql.all('UPDATE duelog_history SET value = ? WHERE name = ?', [String(low), fact])
    return true
  })
}

/** Whether the tables have all failed runs from this id on. */
export async function isFilledFrom(sql: Sql, low: bigint): Promise<boolean> {
  const [mark] = await sql.all('SELECT value FROM duelog_history WHERE name = ?', [fact])
  return mark === undefined || BigInt(mark.value as string) <= low
}
