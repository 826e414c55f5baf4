/**
 * Joins the writes of concurrent requests. While one write is in-flight, others gather and are sent together as the next one:
 * they share a round trip. The order of arrival is kept.
 */
import { DuelogError, isOfRecord } from '../../errors/index.ts'
import type { LogWriter, RecordOut } from '../../ports/index.ts'
import { groupPartitionBytesMax, groupRecordsMax, queuedBytesMax, recordBytesMax } from '../schemas/index.ts'

/** A record with a chosen partition, so that its offset can be reported. */
export type PlacedRecord = RecordOut & { partition: number; key: string }

interface Pending {
  records: PlacedRecord[]
  bytes: number
  resolve(offsets: number[]): void
  reject(error: unknown): void
}

export class GroupCommit {
  readonly #writer: LogWriter
  readonly #queue: Pending[] = []
  #queuedBytes = 0
  #writing = false

  constructor(writer: LogWriter) {
    this.#writer = writer
  }

  /**
   * Resolves with the offset of each record, in order, once the broker has all of them. Rejects with `overloaded` before
   * anything is written, and with the writer's own error afterwards; the records may be in the log then.
   */
  write(records: PlacedRecord[]): Promise<number[]> {
    if (records.length === 0) return Promise.resolve([])
    let bytes = 0
    for (const record of records) bytes += recordBytes(record)
    if (this.#queuedBytes + bytes > queuedBytesMax) return Promise.reject(overloaded())
    this.#queuedBytes += bytes
    const { promise, resolve, reject } = Promise.withResolvers<number[]>()
    this.#queue.push({ records, bytes, resolve, reject })
    if (!this.#writing) void this.#drain()
    return promise
  }

  async #drain(): Promise<void> {
    this.#writing = true
    // One round of the event loop joins requests that were read together.
    await new Promise(setImmediate)
    while (this.#queue.length > 0) {
      const group = this.#takeGroup()
      // One record that the brokers refuse must not fail its neighbors.
      if (!(await this.#send(group))) for (const pending of group) await this.#send([pending])
    }
    this.#writing = false
  }

  /** True: all of the group are settled. False: none is, because one of several records was refused for its content. */
  async #send(group: Pending[]): Promise<boolean> {
    try {
      settle(group, await this.#writer.write(group.flatMap((pending) => pending.records)))
    } catch (error) {
      if (group.length > 1 && isOfRecord(error)) return false
      for (const pending of group) pending.reject(error)
    }
    return true
  }

  /** The oldest records, as many as one write may hold; at least one. */
  #takeGroup(): Pending[] {
    const group: Pending[] = []
    const bytesByPartition = new Map<string, number>()
    let count = 0
    for (const pending of this.#queue) {
      count += pending.records.length
      let fits = count <= groupRecordsMax
      for (const record of pending.records) {
        const place = placeOf(record)
        const bytes = (bytesByPartition.get(place) ?? 0) + recordBytes(record)
        bytesByPartition.set(place, bytes)
        fits &&= bytes <= groupPartitionBytesMax
      }
      if (!fits && group.length > 0) break
      group.push(pending)
      this.#queuedBytes -= pending.bytes
    }
    this.#queue.splice(0, group.length)
    return group
  }
}

/** Gives each waiter its offsets: within a partition they follow the order of the records. */
function settle(group: Pending[], bases: Map<string, number>): void {
  const next = new Map(bases)
  for (const pending of group) {
    const offsets: number[] = []
    for (const record of pending.records) {
      const place = placeOf(record)
      const offset = next.get(place)
      if (offset === undefined) continue
      next.set(place, offset + 1)
      offsets.push(offset)
    }
    if (offsets.length === pending.records.length) pending.resolve(offsets)
    else pending.reject(new DuelogError('internal', 'The broker accepted a write without telling the offsets of its records.'))
  }
}

const placeOf = (record: PlacedRecord): string => `${record.topic}/${record.partition}`
const recordBytes = (record: PlacedRecord): number => Buffer.byteLength(record.key) + (record.value?.length ?? 0)

/** Throws `payload-too-large` for a record that would make the broker refuse the whole write. */
export function checkSize(record: PlacedRecord): void {
  const bytes = recordBytes(record)
  if (bytes <= recordBytesMax) return
  throw new DuelogError(
    'payload-too-large',
    `The record of job ${JSON.stringify(record.key)} has ${bytes} bytes; at most ${recordBytesMax} are taken. Make its payload or headers smaller.`,
  )
}

function overloaded(): DuelogError {
  return new DuelogError(
    'overloaded',
    `More than ${queuedBytesMax} bytes wait to be written to the broker; nothing of this request was taken. Send it again later.`,
  )
}
