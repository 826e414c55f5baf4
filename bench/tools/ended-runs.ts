/**
 * Ended runs of 100,000 jobs over 90 days, the same ones in each benchmark: made by SQL in the database, because writing ten million as the
 * role does takes too long, or one by one for its speed. One in a hundred has failed, and one in ten thousand has a handler of its own.
 * Durations are from 0 to 60 s, most of them short.
 */
import type { EndedRun } from '../../schemas/generated.ts'
import { filled, filledTags } from '../../src/server/history/databases/failed-runs.ts'
import { indexes } from '../../src/server/history/databases/migrations.ts'
import { columns } from '../../src/server/history/databases/rows.ts'
import type { Sql } from '../../src/server/history/databases/sql.ts'

export const days = 90
export const startMs = Date.UTC(2030, 0, 1)
export const endMs = startMs + days * 86_400_000
const jobs = 100_000
const hourMs = 3_600_000

export const jobIdOf = (job: number): string => `job-${String(job % jobs).padStart(6, '0')}`

/** Statements that put `n` runs into empty tables. Indexes are built at the end, which takes a tenth of the time. */
export function fillingOf(dialect: Sql['dialect'], n: number): string[] {
  const isSqlite = dialect === 'sqlite'
  const upTo = isSqlite
    ? `(WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i < ${n - 1}) SELECT i FROM s)`
    : `(SELECT g::bigint AS i FROM generate_series(0, ${n - 1}) g)`
  const padded = (value: string): string =>
    isSqlite ? `printf('job-%06d', ${value})` : `'job-' || lpad((${value})::text, 6, '0')`
  // A sequence in no order, and the time of the run by its place.
  const mixed = `SELECT i, (i + 1) * 2654435761 % 4294967296 AS m, ${startMs} + i * ${endMs - startMs} / ${n} AS t FROM ${upTo} x`
  const share = 'm / 128 % 10000'
  const took = `60000 * (${share} * (${share}) / 10000) * (${share} * (${share}) / 10000) / 100000000`
  const failed = (yes: string, no: string): string => `CASE WHEN m % 100 = 0 THEN ${yes} ELSE ${no} END`
  const text = (value: string): string => `(${value})`
  const bytes = isSqlite ? 'CAST(\'{"sent":true}\' AS BLOB)' : '\'{"sent":true}\'::bytea'
  const quote = `'"'`
  const values: Record<(typeof columns)[number], string> = {
    ...{ id: 't * 1048576 + m % 1048576', job_id: padded(`m % ${jobs}`), life: "'3.1234567'", run_no: 'i + 1' },
    ...{
      outcome: failed("'DEAD'", "'SUCCEEDED'"),
      reason: failed("'attempts'", 'NULL'),
      cause: "'SCHEDULE'",
      command_id: 'NULL',
    },
    handler: "CASE WHEN m % 10000 = 1 THEN 'rare' ELSE 'handler-' || (m % 20) END",
    ...{ topic: 'NULL', pool: "'pool-' || (m % 4)" },
    tags: `'[' || ${quote} || 'customer-' || (m % 10000) || ${quote} || ',' || ${quote} || 'team-' || (m / 8 % 10) || ${quote} || ']'`,
    ...{ scheduled_for: `t - ${text(took)}`, due_at: `t - ${text(took)}`, started_at: `t - ${text(took)}`, finished_at: 't' },
    ...{
      duration_ms: text(took),
      attempts: failed('3', '1'),
      worker: "'worker-' || (m % 8) || '@host-' || (m % 8) || ':1:abcdef'",
    },
    ...{ error_type: failed("'Error' || (m / 512 % 5)", 'NULL') },
    ...{ error_message: failed("'account ' || (m / 100 % 100000) || ' is closed'", 'NULL'), result: failed('NULL', bytes) },
    ...{ result_bytes: failed('0', '13'), note: 'NULL', may_hold_secrets: '0', traceparent: 'NULL' },
  }
  const rebuilt = (name: string, { column, condition }: { column: string; condition?: string }): string =>
    `CREATE INDEX duelog_runs_${name} ON duelog_runs (${isSqlite ? column : `${column}, id`})${condition === undefined ? '' : ` WHERE ${condition}`}`
  const tagged = ["'customer-' || (run_tag.m % 10000)", "'team-' || (run_tag.m / 8 % 10)"]
    .map((tag) => `SELECT ${tag} AS tag, t * 1048576 + m % 1048576 AS id FROM (${mixed}) run_tag`)
    .join(' UNION ALL ')
  const counted = `SELECT finished_at - finished_at % ${hourMs}, outcome, handler, pool, count(*) FROM duelog_runs GROUP BY 1, 2, 3, 4`
  return [
    ...Object.keys(indexes).map((name) => `DROP INDEX duelog_runs_${name}`),
    `INSERT INTO duelog_runs (${columns.join(', ')}) SELECT ${columns.map((name) => values[name]).join(', ')} FROM (${mixed}) run`,
    filled,
    filledTags(dialect),
    `INSERT INTO duelog_run_tags (tag, id) SELECT tag, id FROM (${tagged}) y ORDER BY tag, id`,
    `INSERT INTO duelog_run_counts (hour, outcome, handler, pool, runs) ${counted}`,
    ...Object.entries(indexes).map(([name, index]) => rebuilt(name, index)),
    'ANALYZE',
  ]
}

/** A run as the role writes it. */
export function runOf(index: number): EndedRun {
  const mixed = Math.imul(index + 1, 2_654_435_761) >>> 0
  const finishedAt = startMs + index * 777
  return {
    ...{ jobId: jobIdOf(mixed), runNo: index + 1, life: '3.1234567', outcome: 'SUCCEEDED', reason: null, trigger: 'SCHEDULE' },
    ...{ commandId: null, handler: `handler-${mixed % 20}`, topic: null, pool: `pool-${mixed % 4}` },
    ...{
      tags: [`customer-${mixed % 10_000}`, `team-${(mixed >>> 3) % 10}`],
      scheduledFor: finishedAt - 5,
      dueAt: finishedAt - 5,
    },
    ...{ startedAt: finishedAt - 5, finishedAt, attempts: 1, worker: `worker-${mixed % 8}@host-${mixed % 8}:1:abcdef` },
    ...{ errorType: null, errorMessage: null, result: Buffer.from('{"sent":true}'), resultBytes: 13, note: null },
    ...{ mayHoldSecrets: false, traceparent: null },
  }
}
