/** Records of the topic runs as rows. What is no run of Duelog is counted and left out, because any client may write to the topic. */
import type { EndedRun } from '../../schemas/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { RecordIn } from '../ports/index.ts'
import { type RunRow, rowOf } from './databases/index.ts'
import type { HistoryOptions } from './options.ts'

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
