/** PostgreSQL as a database. It is loaded only where DUELOG_HISTORY_URL is set. */
import { Pool, type PoolClient } from 'pg'
import type { Database, Sql, SqlRow, SqlValue } from './sql.ts'

/** Writes, queries and removals may run at the same time. */
const connectionsMax = 4
const connectMsMax = 10_000
/** The server ends a statement after this time, and the client stops waiting a little later. */
const statementMsMax = 20_000
const idleMs = 60_000

export function openPostgres(url: string, statementMs = statementMsMax): Database {
  const pool = new Pool({
    connectionString: url,
    application_name: 'duelog history',
    max: connectionsMax,
    connectionTimeoutMillis: connectMsMax,
    idleTimeoutMillis: idleMs,
    statement_timeout: statementMs,
    query_timeout: statementMs + 5_000,
    keepAlive: true,
    // Compiling a statement takes longer than any of ours should. Not as an option of the connection, which poolers refuse.
    onConnect: async (client) => void (await client.query('SET jit = off')),
  })
  // A connection that breaks while nobody uses it: the next statement gets another one. While it is used, its next statement fails.
  pool.on('error', () => undefined)
  pool.on('connect', (client) => void client.on('error', () => undefined))
  return {
    dialect: 'postgres',
    all: (text, values) => rowsOf(pool, text, values),
    transaction: (task) => inTransaction(pool, task),
    close: () => pool.end(),
  }
}

async function rowsOf(runner: Pool | PoolClient, text: string, values: readonly SqlValue[]): Promise<SqlRow[]> {
  return (await runner.query(numbered(text), [...values])).rows as SqlRow[]
}

/** `$1`, `$2` … in place of each `?`. No text of ours has a `?` for anything else. */
function numbered(text: string): string {
  let at = 0
  return text.replaceAll('?', () => `$${++at}`)
}

async function inTransaction<Result>(pool: Pool, task: (sql: Sql) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await task({ dialect: 'postgres', all: (text, values) => rowsOf(client, text, values) })
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((failure: Error) => {
      broken = failure
    })
    throw error
  } finally {
    // A connection with an error is not used again.
    client.release(broken)
  }
}
