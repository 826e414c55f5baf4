/** The history of tests of users, in memory, and records of the topic runs as rows. */
import type { EndedRun } from '../../../schemas/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { HistoryQueries, RangeReader, RecordIn } from '../../ground/ports/index.ts'
import { DatabaseStore, inMemory, openSqlite, type RunRow, rowOf } from './databases/index.ts'
import type { HistoryOptions } from './options.ts'

/**
 * The history without a file and without a thread, for tests of users: SQLite in memory. It reads the topic runs up to its end before each
 * answer.
 */

/** More than a test ever writes: each read takes all. */
const readBytesMax = Number.MAX_SAFE_INTEGER

export interface MemoryHistoryOptions extends Pick<HistoryOptions, 'codec' | 'logger' | 'metrics' | 'names'> {
  ranges: Pick<RangeReader, 'read'>
  partitions: number
}

export function memoryHistory(options: MemoryHistoryOptions): HistoryQueries {
  const { ranges, partitions, names } = options
  const origin = { topic: names.runs, clusterId: undefined }
  const store = new DatabaseStore(async () => openSqlite(inMemory), origin, { steadyMs: () => performance.now() })
  const read = Array.from({ length: partitions }, () => 0)
  const readToEnd = async (): Promise<void> => {
    for (const [partition, offset] of read.entries()) {
      const { records, next } = await ranges.read({ topic: names.runs, partition, offset }, readBytesMax)
      if (next === offset) continue
      await store.write(partition, next, await rowsOf(options, records, {}), offset === 0 ? undefined : offset)
      read[partition] = next
    }
  }
  let last: Promise<unknown> = Promise.resolve()
  /** One after the other: SQLite has one connection. */
  const asked = <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const answer = last.then(readToEnd).then(ask)
    last = answer.catch(() => undefined)
    return answer
  }
  return {
    page: (...given) => asked(() => store.page(...given)),
    counts: (...given) => asked(() => store.counts(...given)),
    handlers: (...given) => asked(() => store.handlers(...given)),
  }
}

/** Runs that ended before `from` are left out, because they would be removed at once, and those after `to` as wrong. Rejects with `registry-unavailable`. */
export async function rowsOf(
  { codec, logger, metrics }: Pick<HistoryOptions, 'codec' | 'logger' | 'metrics'>,
  records: readonly RecordIn[],
  { from = 0, to = Number.POSITIVE_INFINITY }: { from?: number; to?: number },
): Promise<RunRow[]> {
  const rows: RunRow[] = []
  for (const { topic, partition, offset, value } of records) {
    try {
      if (value === null) throw new DuelogError('undecodable', 'it has no value')
      const decoded = codec.decode(value)
      const run: EndedRun = decoded instanceof Promise ? await decoded : decoded
      const row = rowOf(run)
      if (typeof row === 'string') throw new DuelogError('undecodable', row)
      if (row.finishedAt > to) throw new DuelogError('undecodable', `finishedAt is ${row.finishedAt}, which is far in the future`)
      if (row.finishedAt >= from) rows.push(row)
    } catch (error) {
      if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
      logger.error(
        { event: 'record-undecodable', topic, partition, offset, problem: messageOf(error) },
        'An ended run cannot be read and is left out of the history.',
      )
      metrics.invalid.inc({ reason: 'undecodable-run' })
    }
  }
  return rows
}
