/**
 * The log of Kafka in memory, without time or network: transactions with fencing, control records that use offsets, readers that
 * see only committed records below the first open transaction, and compaction. Every call takes effect at once.
 */
import { keyPartitionOf, partitionOf } from '../../../streams/topics/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { RecordIn, RecordOut } from '../../ground/ports/index.ts'

export interface Transaction {
  readonly id: string
  state: 'open' | 'committed' | 'aborted'
  /** The order of commits, over all ids. */
  sequence: number
  readonly places: Set<PartitionLog>
  readonly openedAt: number
  /** The transaction is aborted after it is open for this long; absent: after the timeout of all. */
  readonly timeoutMs?: number | undefined
}

export interface Entry {
  readonly offset: number
  /** The order of all appends to all logs. */
  readonly order: number
  /** The broker time of the append. */
  readonly at: number
  readonly transaction: Transaction | undefined
  /** Absent in control records. */
  readonly record: RecordIn | undefined
}

/** A broker refuses a larger record, in bytes, and everything sent with it. */
const recordBytesMax = 1_048_588

export class PartitionLog {
  /** The entries that compaction and retention have left. */
  entries: Entry[] = []
  /** All entries ever appended. */
  readonly archive: Entry[] = []
  earliest = 0
  next = 0
  /** No transaction is open before this offset, and none will be. */
  #stable = 0

  push(entry: Entry): void {
    this.entries.push(entry)
    this.archive.push(entry)
    this.next = entry.offset + 1
  }

  /** Continues the log at this offset, which is not before its end. */
  cutAt(next: number): void {
    this.next = next
    this.earliest = Math.min(this.earliest, next)
    this.#stable = Math.min(this.#stable, next)
  }

  /**
   * Undoes the end of the last transaction here, although its client has the answer: the broker that should get the end marker
   * did not. The returned function delivers the marker.
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

  /** Offset of the first record of an open transaction, or the end. Committed readers stop there. */
  get stableEnd(): number {
    for (let index = this.#indexOf(this.#stable); index < this.entries.length; index++) {
      const { offset, transaction } = this.entries[index] as Entry
      this.#stable = offset
      if (transaction?.state === 'open') return offset
    }
    return this.next
  }

  /**
   * At most `max` committed records from an offset on, of at most `bytesMax` bytes or one record, and the next offset to read.
   */
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

  /** The index of the first entry at or after an offset. */
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
  /** The largest accepted record. A compressed batch may hold larger records; a test raises the limit for that. */
  recordBytesMax = recordBytesMax
  readonly partitions: number
  readonly #now: () => number
  /** By topic, then by partition. The simulator looks them up at every step. */
  readonly #logs = new Map<string, Place[]>()
  /** All logs in the order in which they were made. */
  readonly #places: Place[] = []
  /** Logs by the beginning of the topic name. It is valid until a log is added. */
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
    const known = this.#logs.get(topic)?.[partition]
    if (known !== undefined) return known.log
    const place = { topic, partition, log: new PartitionLog() }
    const places = this.#logs.get(topic) ?? []
    places[partition] = place
    this.#logs.set(topic, places)
    this.#places.push(place)
    this.#found.clear()
    return place.log
  }

  /** Every log of the topics whose name begins with `topicStart`. */
  allOf(topicStart: string): readonly Place[] {
    let found = this.#found.get(topicStart)
    if (found === undefined) {
      found = this.#places.filter(({ topic }) => topic.startsWith(topicStart))
      this.#found.set(topicStart, found)
    }
    return found
  }

  /** Appends records and returns the first offset of each partition. */
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

  /** A new holder takes a transactional id: the previous one is fenced, its open transaction is aborted. */
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

  /** Aborts transactions that are open for longer than this, and fences their owners. */
  expireTransactions(timeoutMs: number): void {
    for (const [id, open] of this.#open) if (this.#now() - open.openedAt >= (open.timeoutMs ?? timeoutMs)) this.fence(id)
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
