/** Writes ended runs with the positions of the topic, and removes old ones. A second write of the same has no effect. */
import { slices } from '../../../ground/concurrency/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { mayHaveFailed, writeFailed } from './failed-runs.ts'
import { writeHandlerTimes } from './handler-times.ts'
import { columns, idAt, identityOf, type RunRow } from './rows.ts'
import { type Database, placesOf, type Sql, type SqlValue } from './sql.ts'

/** Runs that end in the same millisecond and have the same hash take the next free ids, up to this distance. */
const probesMax = 1_000
/** Rows of one statement. SQLite allows 32,766 values, and PostgreSQL 65,535. */
const rowsPerStatement = 500
const hourMs = 3_600_000

export interface WrittenBatch {
  /** Runs that were not in the database before. */
  stored: number
  /** Runs for which there was no free id. */
  refused: number
}

/** Where a batch belongs. */
export interface BatchPlace {
  topic: string
  partition: number
  /** Undefined: the position stays as it is. */
  next: number | undefined
  /** The position that the writer knows from an earlier answer; undefined: there was none. */
  known: number | undefined
}

/**
 * Runs of one partition, and the offset after them, in one transaction. Rejects with `not-ready` if the position in the database is
 * behind the one that the writer knows: then the database is another one, and what was written before is not in it. A position ahead of
 * it is that of a process which had the partition before.
 */
export function writeBatch(database: Database, place: BatchPlace, rows: readonly RunRow[]): Promise<WrittenBatch> {
  return database.transaction(async (sql) => {
    const position = (await readPositions(sql, place.topic)).get(place.partition)
    if ((position ?? -1) < (place.known ?? -1))
      throw new DuelogError(
        'not-ready',
        `The database of the history is at position ${position ?? 'none'} of partition ${place.partition}, and it was at ${place.known} before. What it lacks is read again.`,
      )
    const stored: RunRow[] = []
    let refused = 0
    for (const some of slices(rows, rowsPerStatement)) {
      const written = await writeRuns(sql, some)
      await writeFailed(
        sql,
        written.stored.filter(mayHaveFailed).map(({ id }) => id),
      )
      stored.push(...written.stored)
      refused += written.refused
    }
    await writeTags(sql, stored)
    await writeCounts(sql, stored)
    await writeHandlerTimes(sql, stored)
    if (place.next === undefined) return { stored: stored.length, refused }
    const insert = 'INSERT INTO duelog_run_positions (topic, partition, next_offset) VALUES (?, ?, ?)'
    const set = 'ON CONFLICT (topic, partition) DO UPDATE SET next_offset = excluded.next_offset'
    await sql.all(`${insert} ${set}`, [place.topic, place.partition, place.next])
    return { stored: stored.length, refused }
  })
}

async function writeRuns(sql: Sql, rows: readonly RunRow[]): Promise<{ stored: RunRow[]; refused: number }> {
  const stored: RunRow[] = []
  let refused = 0
  let left = withOwnIds(rows)
  for (let probe = 0; left.length > 0; probe++) {
    if (probe === probesMax) {
      refused = left.length
      break
    }
    const text = `INSERT INTO duelog_runs (${columns.join(', ')}) VALUES ${placesOf(left.length, columns.length)} ON CONFLICT (id) DO NOTHING RETURNING id`
    const values = left.flatMap((row): SqlValue[] => [row.id, ...row.rest])
    const taken = new Set((await sql.all(text, values)).map(({ id }) => BigInt(id as bigint)))
    stored.push(...left.filter(({ id }) => taken.has(id)))
    const rest = left.filter(({ id }) => !taken.has(id))
    if (rest.length === 0) break
    const known = await ownersOf(sql, rest)
    left = withOwnIds(rest.filter((row) => known.get(row.id) !== identityOf(row)).map((row) => ({ ...row, id: row.id + 1n })))
  }
  return { stored, refused }
}

/** No two of them have the same id, and no run is there twice. */
function withOwnIds(rows: readonly RunRow[]): RunRow[] {
  const byId = new Map<bigint, RunRow>()
  for (const row of rows) {
    let { id } = row
    for (let other = byId.get(id); other !== undefined && identityOf(other) !== identityOf(row); other = byId.get(id)) id++
    if (!byId.has(id)) byId.set(id, { ...row, id })
  }
  return [...byId.values()]
}

/** The runs that have these ids. */
async function ownersOf(sql: Sql, rows: readonly RunRow[]): Promise<Map<bigint, string>> {
  const text = `SELECT id, job_id, life, run_no, scheduled_for FROM duelog_runs WHERE id IN (${rows.map(() => '?').join(', ')})`
  const found = await sql.all(
    text,
    rows.map(({ id }) => id),
  )
  return new Map(
    found.map(({ id, job_id: jobId, life, run_no: runNo, scheduled_for: at }) => [
      BigInt(id as bigint),
      identityOf({ jobId: String(jobId), life: String(life), runNo: Number(runNo), scheduledFor: Number(at) }),
    ]),
  )
}

async function writeTags(sql: Sql, rows: readonly RunRow[]): Promise<void> {
  const tags = rows.flatMap(({ id, tags }) => tags.map((tag): SqlValue[] => [tag, id]))
  for (const some of slices(tags, rowsPerStatement)) {
    const text = `INSERT INTO duelog_run_tags (tag, id) VALUES ${placesOf(some.length, 2)} ON CONFLICT (tag, id) DO NOTHING`
    await sql.all(text, some.flat())
  }
}

async function writeCounts(sql: Sql, rows: readonly RunRow[]): Promise<void> {
  const counts = new Map<string, { key: SqlValue[]; runs: number }>()
  for (const { finishedAt, outcome, handler, pool } of rows) {
    const key = [finishedAt - (finishedAt % hourMs), outcome, handler ?? '', pool ?? '']
    const name = JSON.stringify(key)
    const count = counts.get(name)
    if (count === undefined) counts.set(name, { key, runs: 1 })
    else count.runs++
  }
  // In one order, so that two processes that write the same counts wait for each other in turn.
  const sorted = [...counts].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, { key, runs }]) => [...key, runs])
  for (const some of slices(sorted, rowsPerStatement)) {
    const text = `INSERT INTO duelog_run_counts (hour, outcome, handler, pool, runs) VALUES ${placesOf(some.length, 5)} ON CONFLICT (hour, outcome, handler, pool) DO UPDATE SET runs = duelog_run_counts.runs + excluded.runs`
    await sql.all(text, some.flat())
  }
}

/** Removes at most `limit` of the runs that ended before the hour of this time, oldest first. Resolves with their number. */
export function removeOld(database: Database, beforeMs: number, limit: number): Promise<number> {
  const hour = beforeMs - (beforeMs % hourMs)
  return database.transaction(async (sql) => {
    const old = await sql.all('SELECT id, tags FROM duelog_runs WHERE id < ? ORDER BY id LIMIT ?', [idAt(hour), limit])
    const last = old.at(-1)
    if (last === undefined) {
      for (const table of ['duelog_run_counts', 'duelog_handler_times'])
        await sql.all(`DELETE FROM ${table} WHERE hour < ?`, [hour])
      return 0
    }
    const tags = old.flatMap(({ id, tags: text }) =>
      (JSON.parse(String(text)) as string[]).map((tag): SqlValue[] => [tag, BigInt(id as bigint)]),
    )
    const list = sql.dialect === 'sqlite' ? 'VALUES ' : ''
    for (const some of slices(tags, rowsPerStatement))
      for (const table of ['duelog_run_tags', 'duelog_failed_run_tags'])
        await sql.all(`DELETE FROM ${table} WHERE (tag, id) IN (${list}${placesOf(some.length, 2)})`, some.flat())
    for (const table of ['duelog_runs', 'duelog_failed_runs'])
      await sql.all(`DELETE FROM ${table} WHERE id <= ?`, [BigInt(last.id as bigint)])
    return old.length
  })
}

export async function readPositions(sql: Sql, topic: string): Promise<Map<number, number>> {
  const rows = await sql.all('SELECT partition, next_offset FROM duelog_run_positions WHERE topic = ?', [topic])
  return new Map(rows.map(({ partition, next_offset: next }) => [Number(partition), Number(next)]))
}
