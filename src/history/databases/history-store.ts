/** The history in one of the databases: what the role and the API ask of it. */
import type { HistoryCounts, HistoryFilter, HistoryPage } from '../../ports/index.ts'
import { migrate, type Origin } from './migrations.ts'
import type { RunRow } from './rows.ts'
import { type SearchClock, searchCounts, searchPage } from './search.ts'
import type { Database } from './sql.ts'
import { readPositions, removeOld, type WrittenBatch, writeBatch } from './writes.ts'

/** Every call rejects if the database fails; the next one opens it again. */
export interface HistoryStore {
  /** Next offset of each partition of the topic. */
  positions(): Promise<Map<number, number>>
  write(partition: number, next: number, rows: readonly RunRow[]): Promise<WrittenBatch>
  /** Removes at most `limit` old runs; resolves with their number. */
  removeOld(beforeMs: number, limit: number): Promise<number>
  page(filter: HistoryFilter, limit: number, before: string | null): Promise<HistoryPage>
  counts(filter: HistoryFilter & { from: number; to: number }, bucketMs: number): Promise<HistoryCounts>
  close(): Promise<void>
}

export type StoreCall = Exclude<keyof HistoryStore, 'close'>

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

  write(partition: number, next: number, rows: readonly RunRow[]): Promise<WrittenBatch> {
    return this.#with((database) => writeBatch(database, { topic: this.#origin.topic, partition, next }, rows))
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
      if (this.#database === used) await this.close().catch(() => undefined)
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
