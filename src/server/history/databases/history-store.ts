/** The history in one of the databases: what the role and the API ask of it. */
import type { HandlerFigures, HistoryCounts, HistoryFilter, HistoryPage } from '../../../ground/ports/index.ts'
import { searchCounts } from './counts.ts'
import { handlerFigures } from './handler-times.ts'
import { migrate, type Origin } from './migrations.ts'
import type { RunRow } from './rows.ts'
import { type SearchClock, searchPage } from './search.ts'
import type { Database } from './sql.ts'
import { type BatchPlace, readPositions, removeOld, type WrittenBatch, writeBatch } from './writes.ts'

/** Every call rejects if the database fails; the next one opens it again. */
export interface HistoryStore {
  /** Next offset of each partition of the topic. */
  positions(): Promise<Map<number, number>>
  /** `known`: the position of the partition in the database, from an earlier answer. Undefined: it had none. */
  write(partition: number, next: number, rows: readonly RunRow[], known?: number): Promise<WrittenBatch>
  /** Removes at most `limit` old runs; resolves with their number. */
  removeOld(beforeMs: number, limit: number): Promise<number>
  page(filter: HistoryFilter, limit: number, before: string | null): Promise<HistoryPage>
  counts(filter: HistoryFilter & { from: number; to: number }, bucketMs: number): Promise<HistoryCounts>
  /** `from` and `to` are whole hours. */
  handlers(from: number, to: number): Promise<HandlerFigures[]>
  close(): Promise<void>
}

export type StoreCall = Exclude<keyof HistoryStore, 'close'>

/** PostgreSQL refuses a value or a row for its own sake: classes 22, 23 and 54 of its codes. */
const isOfRow = (error: unknown): boolean => /^(22|23|54)/.test(String((error as { code?: unknown }).code))

/** One row after the other, without those that are refused: one odd row must not hold back all that follow. */
async function writeEach(database: Database, place: BatchPlace, rows: readonly RunRow[]): Promise<WrittenBatch> {
  const written = { stored: 0, refused: 0 }
  // The position follows when all rows are there: after a crash in between they are read again.
  const meanwhile = { ...place, next: undefined }
  for (const row of rows) {
    try {
      written.stored += (await writeBatch(database, meanwhile, [row])).stored
    } catch (error) {
      if (!isOfRow(error)) throw error
      written.refused++
    }
  }
  await writeBatch(database, place, [])
  return written
}

/** SQLITE_BUSY: another program writes to the file. */
const busy = 5

/**
 * What could not be opened is opened again. PostgreSQL has other connections, and its tables stay as they are, unless they are gone
 * (classes 42 and 3D). A file of SQLite stays open while it is only locked.
 */
async function needsReopening(database: Promise<Database>, error: unknown): Promise<boolean> {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown }
  const dialect = await database.then(
    (opened) => opened.dialect,
    () => undefined,
  )
  if (dialect === 'sqlite') return Number(errcode) % 256 !== busy
  return dialect === undefined || /^(42|3D)/.test(String(code))
}

/** Opens the database at the first call, and again after an error. */
export class DatabaseStore implements HistoryStore {
  readonly #open: () => Promise<Database>
  readonly #origin: Origin
  readonly #clock: SearchClock
  #database: Promise<Database> | undefined

  constructor(open: () => Promise<Database>, origin: Origin, clock: SearchClock) {
    this.#open = open
    this.#origin = origin
    this.#clock = clock
  }

  positions(): Promise<Map<number, number>> {
    return this.#with((database) => readPositions(database, this.#origin.topic))
  }

  write(partition: number, next: number, rows: readonly RunRow[], known?: number): Promise<WrittenBatch> {
    const place = { topic: this.#origin.topic, partition, next, known }
    return this.#with(async (database) => {
      try {
        return await writeBatch(database, place, rows)
      } catch (error) {
        if (!isOfRow(error)) throw error
        return writeEach(database, place, rows)
      }
    })
  }

  removeOld(beforeMs: number, limit: number): Promise<number> {
    return this.#with((database) => removeOld(database, beforeMs, limit))
  }

  page(filter: HistoryFilter, limit: number, before: string | null): Promise<HistoryPage> {
    const place = before === null ? null : BigInt(before)
    return this.#with((database) => searchPage(database, this.#clock, filter, limit, place))
  }

  counts(filter: HistoryFilter & { from: number; to: number }, bucketMs: number): Promise<HistoryCounts> {
    return this.#with((database) => searchCounts(database, this.#clock, filter, bucketMs))
  }

  handlers(from: number, to: number): Promise<HandlerFigures[]> {
    return this.#with((database) => handlerFigures(database, from, to))
  }

  async close(): Promise<void> {
    const database = this.#database
    this.#database = undefined
    await database?.then(
      (opened) => opened.close(),
      () => undefined,
    )
  }

  async #with<Result>(task: (database: Database) => Promise<Result>): Promise<Result> {
    this.#database ??= this.#opened()
    const used = this.#database
    try {
      return await task(await used)
    } catch (error) {
      if (this.#database === used && (await needsReopening(used, error))) await this.close().catch(() => undefined)
      throw error
    }
  }

  async #opened(): Promise<Database> {
    const database = await this.#open()
    try {
      await migrate(database, this.#origin)
      return database
    } catch (error) {
      await database.close().catch(() => undefined)
      throw error
    }
  }
}
