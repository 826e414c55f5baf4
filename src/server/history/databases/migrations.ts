/** The tables, by versions of their schema. A version that was released never changes; the next one follows it. */
import { DuelogError } from '../../../ground/errors/index.ts'
import { failedTables } from './failed-runs.ts'
import { handlerTimesTable } from './handler-times.ts'
import type { Database, Sql } from './sql.ts'

type Migration = (dialect: Sql['dialect']) => string[]

type Indexes = Record<string, { column: string; condition?: string }>

/** Indexes of duelog_runs. One with a condition holds a few of the runs, so it costs almost nothing. */
export const indexes: Indexes = {
  job: { column: 'job_id' },
  handler: { column: 'handler' },
  pool: { column: 'pool' },
  duration: { column: 'duration_ms', condition: 'duration_ms IS NOT NULL' },
  outcome: { column: 'outcome', condition: "outcome <> 'SUCCEEDED'" },
  error: { column: 'error_type', condition: 'error_type IS NOT NULL' },
}

/**
 * An index of PostgreSQL alone answers only for pages that a vacuum has seen, and by default it sees new rows when they are a fifth of
 * the table: two of ten million runs. Servers before version 13 have no such setting.
 */
const vacuumed = ['duelog_runs', 'duelog_run_tags', 'duelog_failed_runs', 'duelog_failed_run_tags'].map(
  (table) =>
    `DO $$ BEGIN ALTER TABLE ${table} SET (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02); EXCEPTION WHEN invalid_parameter_value THEN NULL; END $$`,
)

/** Version 1 is the first. The names carry a prefix, because a PostgreSQL database may have other tables. */
const migrations: readonly Migration[] = [
  (dialect) => {
    const isSqlite = dialect === 'sqlite'
    const [blob, keyed, id] = isSqlite ? ['BLOB', ' WITHOUT ROWID', 'INTEGER'] : ['BYTEA', '', 'BIGINT']
    // Compared by bytes, as SQLite does: otherwise PostgreSQL could not search for prefixes by an index.
    const key = isSqlite ? 'TEXT' : 'TEXT COLLATE "C"'
    return [
      `CREATE TABLE duelog_runs (
        id ${id} PRIMARY KEY, job_id ${key} NOT NULL, life TEXT NOT NULL, run_no BIGINT NOT NULL, outcome ${key} NOT NULL,
        reason TEXT, cause TEXT NOT NULL, command_id TEXT, handler ${key}, topic TEXT, pool ${key}, tags TEXT NOT NULL,
        scheduled_for BIGINT NOT NULL, due_at BIGINT, started_at BIGINT, finished_at BIGINT NOT NULL, duration_ms BIGINT,
        attempts BIGINT NOT NULL, worker TEXT, error_type ${key}, error_message TEXT, result ${blob},
        result_bytes BIGINT NOT NULL, note TEXT, may_hold_secrets SMALLINT NOT NULL, traceparent TEXT)`,
      `CREATE TABLE duelog_run_tags (tag ${key} NOT NULL, id BIGINT NOT NULL, PRIMARY KEY (tag, id))${keyed}`,
      `CREATE TABLE duelog_run_counts (
        hour BIGINT NOT NULL, outcome ${key} NOT NULL, handler ${key} NOT NULL, pool ${key} NOT NULL, runs BIGINT NOT NULL,
        PRIMARY KEY (hour, outcome, handler, pool))${keyed}`,
      `CREATE TABLE duelog_run_positions (
        topic TEXT NOT NULL, partition BIGINT NOT NULL, next_offset BIGINT NOT NULL, PRIMARY KEY (topic, partition))${keyed}`,
      // An index of SQLite has the id at its end by itself.
      ...Object.entries(indexes).map(([name, { column, condition }]) => {
        const columns = isSqlite ? column : `${column}, id`
        return `CREATE INDEX duelog_runs_${name} ON duelog_runs (${columns})${condition === undefined ? '' : ` WHERE ${condition}`}`
      }),
      ...failedTables(id, key, keyed),
      handlerTimesTable(id, key, keyed),
      ...(isSqlite ? [] : vacuumed),
    ]
  },
]

/** Whose runs the database holds: a topic of a cluster. */
export interface Origin {
  topic: string
  /** Undefined: this process may not ask for it. */
  clusterId: string | undefined
}

/** Creates the tables, or brings those of an earlier release to this one. Rejects with `foreign-data` for those of a later one, or of another system. */
export async function migrate(database: Database, origin: Origin): Promise<void> {
  // Without a lock: tables that are as they should be can be read while another program writes to them, or on a full disk.
  if (isCurrent(await factsOf(database), origin)) return
  await database.transaction(async (sql) => {
    // Several processes may start at the same time.
    if (sql.dialect === 'postgres') await sql.all('SELECT pg_advisory_xact_lock(7305437)', [])
    await sql.all('CREATE TABLE IF NOT EXISTS duelog_history (name TEXT PRIMARY KEY, value TEXT NOT NULL)', [])
    const facts = await factsOf(sql)
    if (isCurrent(facts, origin)) return
    const version = Number(facts.get('schema') ?? 0)
    for (const migration of migrations.slice(version))
      for (const statement of migration(sql.dialect)) await sql.all(statement, [])
    const known = { schema: String(migrations.length), topic: origin.topic, cluster: origin.clusterId }
    for (const [name, value] of Object.entries(known)) {
      if (value === undefined) continue
      const text =
        'INSERT INTO duelog_history (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value'
      await sql.all(text, [name, value])
    }
  })
}

/** What the database says of itself; empty if it has no tables yet. */
async function factsOf(sql: Sql): Promise<Map<string, string>> {
  const isThere =
    sql.dialect === 'postgres'
      ? "SELECT 1 AS found WHERE to_regclass('duelog_history') IS NOT NULL"
      : "SELECT 1 AS found FROM sqlite_master WHERE type = 'table' AND name = 'duelog_history'"
  if ((await sql.all(isThere, [])).length === 0) return new Map()
  const rows = await sql.all('SELECT name, value FROM duelog_history', [])
  return new Map(rows.map(({ name, value }) => [String(name), String(value)]))
}

/** Whether nothing has to be written. Throws `foreign-data`. */
function isCurrent(facts: ReadonlyMap<string, string>, origin: Origin): boolean {
  const version = Number(facts.get('schema') ?? 0)
  if (version > migrations.length)
    throw new DuelogError(
      'foreign-data',
      `The database of the history has version ${version} of its tables, and this release knows only ${migrations.length}. Upgrade this process.`,
    )
  checkOrigin(origin, { topic: facts.get('topic'), clusterId: facts.get('cluster') })
  return version === migrations.length && (origin.clusterId === undefined || facts.has('cluster'))
}

function checkOrigin({ topic, clusterId }: Origin, known: { topic: unknown; clusterId: unknown }): void {
  const isOther = (mine: string | undefined, theirs: unknown): boolean =>
    mine !== undefined && theirs !== undefined && mine !== theirs
  if (!isOther(topic, known.topic) && !isOther(clusterId, known.clusterId)) return
  throw new DuelogError(
    'foreign-data',
    `The database of the history holds the runs of the topic ${known.topic} of the cluster ${known.clusterId ?? 'unknown'}, not of ${topic} of ${clusterId ?? 'unknown'}. Set another DUELOG_HISTORY_URL, or move the folder history of the data folder away.`,
  )
}
