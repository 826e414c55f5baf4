/**
 * Kafka's log in memory, without time or network of its own: transactions with fencing, control records that take offsets, readers
 * that see only what is committed below the first open transaction, and compaction. Every call takes effect at once.
 */
import { DuelogError } from '../../src/errors/errors.ts'
import type { RecordIn, RecordOut } from '../../src/ports/log.ts'
import { keyPartitionOf, partitionOf } from '../../streams/topics/topics.ts'

export interface Transaction {
  readonly id: string
  state: 'open' | 'committed' | 'aborted'
  /** Order of commits, over all ids. */
  sequence: number
  readonly places: Set<PartitionLog>
  readonly openedAt: number
  /** Left open for longer than its client said, it is aborted; absent: for longer than that of all. */
  readonly timeoutMs?: number | undefined
}

export interface Entry {
  readonly offset: number
  /** Order of all appends to all logs. */
  readonly order: number
  /** Broker time of the append. */
  readonly at: number
  readonly transaction: Transaction | undefined
  /** Absent in control records. */
  readonly record: RecordIn | undefined
}

/** A broker refuses a record of more, and all that was sent with it, in bytes. */
const recordBytesMax = 1_048_588

export class PartitionLog {
  /** What compaction and retention have left. */
  entries: Entry[] = []
  /** Everything that was ever appended. */
  readonly archive: Entry[] = []
  earliest = 0
  next = 0
  /** No transaction is open before it, and none will be. */
  #stable = 0

  push(entry: Entry): void {
    this.entries.push(entry)
    this.archive.push(entry)
    this.next = entry.offset + 1
  }

  /** The log goes on at this offset, which is not behind its end. */
  cutAt(next: number): void {
    this.next = next
    this.earliest = Math.min(this.earliest, next)
    this.#stable = Math.min(this.#stable, next)
  }

  /**
   * Takes back that the last transaction has ended here, though its client was told: the broker that should hear it is lost. Call what is
   * answered when it has heard.
   */
  withoutLastEnd(): () => void {
    const { transaction } = this.entries.findLast((entry) => entry.transaction?.state === 'committed') as Entry
    if (transaction === undefined) throw new Error('No transaction was committed here.')
    transaction.state = 'open'
    this.#stable = this.earliest
    return () => {
      transaction.state = 'committed'
    }
  }

  /** Offset of the first record of an open transaction, or the end: committed readers stop there. */
  get stableEnd(): number {
    for (let index = this.#indexOf(this.#stable); index < this.entries.length; index++) {
      const { offset, transaction } = this.entries[index] as Entry
      this.#stable = offset
      if (transaction?.state === 'open') return offset
    }
    return this.next
  }

  /** At most `max` committed records from an offset on, of at most so many bytes or one, and where to read next. */
  read(from: number, max: number, bytesMax = Number.POSITIVE_INFINITY): { records: RecordIn[]; next: number } {
    const end = this.stableEnd
    const records: RecordIn[] = []
    let next = Math.max(from, this.earliest)
    let bytes = 0
    for (let index = this.#indexOf(next); index < this.entries.length; index++) {
      const { offset, record, transaction } = this.entries[index] as Entry
      if (offset >= end) break
      if (records.length === max) return { records, next }
      const isForReaders = record !== undefined && transaction?.state !== 'aborted'
      if (isForReaders) bytes += (record.key?.length ?? 0) + (record.value?.length ?? 0)
      if (records.length > 0 && bytes > bytesMax) return { records, next }
      next = offset + 1
      if (isForReaders) records.push(record)
    }
    return { records, next: Math.max(next, end) }
  }

  /** Index of the first entry at or after an offset. */
  #indexOf(offset: number): number {
    let [low, high] = [0, this.entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.entries[middle]?.offset ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}

export interface Place {
  readonly topic: string
  readonly partition: number
  readonly log: PartitionLog
}

export const isShown = ({ record, transaction }: Entry): boolean =>
  record !== undefined && (transaction === undefined || transaction.state === 'committed')

export class MemoryLog {
  /** Largest record that is taken. A compressed batch may hold larger ones: then a test raises it. */
  recordBytesMax = recordBytesMax
  /** When compaction first found a tombstone. */
  readonly #foundAt = new WeakMap<Entry, number>()
  readonly partitions: number
  readonly #now: () => number
  readonly #logs = new Map<string, Place>()
  /** By beginnings of names, as long as no log is added. */
  readonly #found = new Map<string, readonly Place[]>()
  readonly #epochs = new Map<string, number>()
  readonly #open = new Map<string, Transaction>()
  #commits = 0
  #appends = 0

  constructor(partitions: number, now: () => number) {
    this.partitions = partitions
    this.#now = now
  }

  at(topic: string, partition: number): PartitionLog {
    const name = `${topic}/${partition}`
    let place = this.#logs.get(name)
    if (place === undefined) {
      place = { topic, partition, log: new PartitionLog() }
      this.#logs.set(name, place)
      this.#found.clear()
    }
    return place.log
  }

  /** Every log of the topics whose name begins so. */
  allOf(topicStart: string): readonly Place[] {
    let found = this.#found.get(topicStart)
    if (found === undefined) {
      found = [...this.#logs.values()].filter(({ topic }) => topic.startsWith(topicStart))
      this.#found.set(topicStart, found)
    }
    return found
  }

  /** Appends records and resolves with the first offset of each place. */
  append(records: readonly RecordOut[], transaction?: Transaction): Map<string, number> {
    const first = new Map<string, number>()
    for (const { topic, key, value } of records) {
      const bytes = Buffer.byteLength(key ?? '') + (value?.length ?? 0)
      if (bytes > this.recordBytesMax)
        throw new DuelogError('payload-too-large', `A record of ${bytes} bytes for ${topic} is too large.`)
    }
    for (const { topic, partition: wanted, ofJob, key, value, headers = {} } of records) {
      const partition = wanted ?? (ofJob ? partitionOf : keyPartitionOf)(key ?? '', this.partitions)
      const log = this.at(topic, partition)
      const [offset, timestampMs] = [log.next, this.#now()]
      const record: RecordIn = {
        topic,
        partition,
        offset,
        timestampMs,
        byBroker: true,
        key: typeof key === 'string' ? Buffer.from(key) : key,
        value,
        headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
      }
      log.push({ offset, order: this.#appends++, at: timestampMs, transaction, record })
      transaction?.places.add(log)
      const place = `${topic}/${partition}`
      if (!first.has(place)) first.set(place, offset)
    }
    return first
  }

  /** A new holder of a transactional id: the one before is fenced, what it had open is aborted. */
  fence(id: string): number {
    this.#end(id, 'aborted')
    const epoch = (this.#epochs.get(id) ?? 0) + 1
    this.#epochs.set(id, epoch)
    return epoch
  }

  begin(id: string, epoch: number, timeoutMs?: number): Transaction {
    this.#checkEpoch(id, epoch)
    const transaction: Transaction = { id, state: 'open', sequence: -1, places: new Set(), openedAt: this.#now(), timeoutMs }
    this.#open.set(id, transaction)
    return transaction
  }

  commit(id: string, epoch: number): void {
    this.#checkEpoch(id, epoch)
    this.#end(id, 'committed')
  }

  /** Transactions that were left open for so long are aborted, and their owners fenced. */
  expireTransactions(timeoutMs: number): void {
    for (const [id, open] of this.#open) if (this.#now() - open.openedAt >= (open.timeoutMs ?? timeoutMs)) this.fence(id)
  }

  /**
   * Of the records before `upTo`, only the last of each key stays; and no tombstone that an earlier compaction has found so long ago, so
   * that whoever has read what it deletes has that long to read it (KIP-534). The last entry stays, as do records of open transactions
   * and all behind them.
   */
  compact(log: PartitionLog, upTo: number, tombstonesMs: number): void {
    const mayDrop = (tombstone: Entry): boolean => {
      const foundAt = this.#foundAt.get(tombstone) ?? this.#now()
      this.#foundAt.set(tombstone, foundAt)
      return this.#now() - foundAt >= tombstonesMs
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

  /** The tail of a log is lost, as when a broker leads that had not copied it: what comes next takes the offsets again. */
  truncate(log: PartitionLog, from: number): void {
    log.entries = log.entries.filter(({ offset }) => offset < from)
    log.cutAt(Math.max(from, log.earliest))
  }

  /** Somebody has deleted the topic, and it was made again. */
  recreate(log: PartitionLog): void {
    log.entries = []
    log.cutAt(0)
  }

  /** Retention: what was appended before is gone. */
  expire(log: PartitionLog, before: number): void {
    while (log.entries.length > 1 && (log.entries[0]?.at ?? before) < before && (log.entries[0]?.offset ?? 0) < log.stableEnd) {
      log.earliest = (log.entries.shift()?.offset ?? 0) + 1
    }
  }

  #end(id: string, state: 'committed' | 'aborted'): void {
    const transaction = this.#open.get(id)
    if (transaction === undefined) return
    this.#open.delete(id)
    transaction.state = state
    if (state === 'committed') transaction.sequence = this.#commits++
    for (const log of transaction.places)
      log.push({ offset: log.next, order: this.#appends++, at: this.#now(), transaction, record: undefined })
  }

  #checkEpoch(id: string, epoch: number): void {
    if (this.#epochs.get(id) !== epoch) throw new DuelogError('fenced', `The transactional id ${id} has a later holder.`)
  }
}
