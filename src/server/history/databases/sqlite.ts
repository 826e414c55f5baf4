/** A SQLite file as a database. All its calls block, so a file is used in a worker thread only (database-thread.ts). */
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DuelogError } from '../../../ground/errors/index.ts'
import { privateFileMode, privateFolderMode } from '../../../ground/process/index.ts'
import type { Database, Sql, SqlRow, SqlValue } from './sql.ts'

/** Statements of the same text are compiled once. Texts with a number of rows in them are many, so the oldest are dropped. */
const statementsMax = 100
const cacheKib = 16_384

/** The path of a database that is in the memory of the process alone. */
export const inMemory = ':memory:'

/** Throws what SQLite throws, for example for a file that is no database, or for a full disk. */
export function openSqlite(path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: privateFolderMode })
  const database = new DatabaseSync(path)
  try {
    if (path !== inMemory) chmodSync(path, privateFileMode)
    // After a power failure the last transactions may be missing, with their positions: they are read again.
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY; PRAGMA busy_timeout = 2000',
    )
    database.exec(`PRAGMA cache_size = -${cacheKib}; PRAGMA journal_size_limit = 67108864`)
  } catch (error) {
    database.close()
    throw error
  }
  return new SqliteDatabase(database, path)
}

/** Undefined: there is no file. */
const fileOf = (path: string): bigint | undefined => statSync(path, { bigint: true, throwIfNoEntry: false })?.ino

class SqliteDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly #database: DatabaseSync
  readonly #statements = new Map<string, StatementSync>()
  readonly #path: string
  readonly #file: bigint | undefined

  constructor(database: DatabaseSync, path: string) {
    this.#database = database
    this.#path = path
    this.#file = fileOf(path)
  }

  async all(text: string, values: readonly SqlValue[]): Promise<SqlRow[]> {
    return this.#statement(text).all(...values) as SqlRow[]
  }

  /** The worker does one thing after another, so no other statement comes between. */
  async transaction<Result>(task: (sql: Sql) => Promise<Result>): Promise<Result> {
    // Writes to a file that was moved away or replaced are lost for those who open the path later.
    if (fileOf(this.#path) !== this.#file) throw new DuelogError('not-ready', 'The file of the history was moved away.')
    this.#database.exec('BEGIN IMMEDIATE')
    try {
      const result = await task(this)
      this.#database.exec('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  async close(): Promise<void> {
    this.#statements.clear()
    this.#database.close()
  }

  #statement(text: string): StatementSync {
    let statement = this.#statements.get(text)
    if (statement === undefined) {
      statement = this.#database.prepare(text)
      statement.setReadBigInts(true)
      const [oldest] = this.#statements.keys()
      if (this.#statements.size >= statementsMax && oldest !== undefined) this.#statements.delete(oldest)
      this.#statements.set(text, statement)
    }
    return statement
  }
}
