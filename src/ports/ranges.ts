/** Port for reading a part of one partition by time, without a consumer group. */
import type { Position, RecordIn, TopicPartition } from './log.ts'

export interface RangeReader {
  /**
   * Offset of the first record appended at or after `fromMs`, and of the first one at or after `toMs`; both are the end of the partition
   * if there is none. `toMs` undefined: the end. Times are the brokers' where the topic has append times.
   */
  range(place: TopicPartition, fromMs: number, toMs: number | undefined): Promise<{ from: number; to: number }>
  /**
   * Records from the position on, at most about `bytesMax`, but at least one where there is one. `next`: where to continue; it is the
   * position itself at the end. Records that expired meanwhile are skipped. Records of open transactions are included.
   */
  read(position: Position, bytesMax: number): Promise<{ records: RecordIn[]; next: number }>
  close(): Promise<void>
}
