/** The log in memory of src/testing, for tests of other rooms, with what happens to logs over the years. */
import { type Entry, isShown, type PartitionLog, MemoryLog as Simulated } from '../../src/testing/simulation/memory-log.ts'

export { type Entry, isShown, PartitionLog, type Place, type Transaction } from '../../src/testing/simulation/memory-log.ts'

export class MemoryLog extends Simulated {
  readonly #time: () => number
  /** When compaction first found a tombstone. */
  readonly #foundAt = new WeakMap<Entry, number>()

  constructor(partitions: number, now: () => number) {
    super(partitions, now)
    this.#time = now
  }

  /**
   * Compacts the records before `upTo`: only the last record of each key stays. A tombstone goes if an earlier compaction found
   * it at least `tombstonesMs` ago. So a reader that has read the deleted record has that long to read the tombstone (KIP-534).
   * The last entry stays, as do records of open transactions and all records after them.
   */
  compact(log: PartitionLog, upTo: number, tombstonesMs: number): void {
    const mayDrop = (tombstone: Entry): boolean => {
      const foundAt = this.#foundAt.get(tombstone) ?? this.#time()
      this.#foundAt.set(tombstone, foundAt)
      return this.#time() - foundAt >= tombstonesMs
    }
    const end = Math.min(upTo, log.stableEnd, log.next - 1)
    const last = new Map<string, number>()
    for (const entry of log.entries) {
      if (entry.offset < end && isShown(entry) && entry.record?.key) last.set(entry.record.key.toString('hex'), entry.offset)
    }
    log.entries = log.entries.filter((entry) => {
      const { offset, record } = entry
      if (offset >= end) return true
      if (!isShown(entry) || !record?.key || last.get(record.key.toString('hex')) !== offset) return false
      return record.value !== null || !mayDrop(entry)
    })
  }

  /**
   * The tail of a log is lost, as when a broker becomes leader that had not copied it. The next records use the same offsets
   * again.
   */
  truncate(log: PartitionLog, from: number): void {
    log.entries = log.entries.filter(({ offset }) => offset < from)
    log.cutAt(Math.max(from, log.earliest))
  }

  /** Simulates that somebody deleted the topic and it was made again. */
  recreate(log: PartitionLog): void {
    log.entries = []
    log.cutAt(0)
  }

  /** Retention: removes the records that were appended before. */
  expire(log: PartitionLog, before: number): void {
    while (log.entries.length > 1 && (log.entries[0]?.at ?? before) < before && (log.entries[0]?.offset ?? 0) < log.stableEnd) {
      log.earliest = (log.entries.shift()?.offset ?? 0) + 1
    }
  }
}
