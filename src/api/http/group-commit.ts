/**
 * Joins the writes of concurrent requests. While one write is on its way to the broker all others gather, and go out together as the
 * next: a round trip is shared by as many requests as arrive within it. Order of arrival is kept.
 */
import { DuelogError, isOfRecord } from '../../errors/index.ts'
import type { LogWriter, RecordOut } from '../../ports/index.ts'
import { groupPartitionBytesMax, groupRecordsMax, queuedBytesMax, recordBytesMax } from '../schemas/index.ts'

/** A record whose partition is chosen already, so that its offset can be told. */
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
   * Resolves with the offset of each record, in order, once the broker has them all.
   * Rejects with `overloaded` before anything is written, and with the writer's own error after; then the records may or may not be
   * in the log.
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
    // One turn of the event loop lets requests that were read together leave together.
    await new Promise(setImmediate)
    while (this.#queue.length > 0) {
      const group = this.#takeGroup()
      // One record that the brokers do not take must not fail its neighbours.
      if (!(await this.#send(group))) for (const pending of group) await this.#send([pending])
    }
    this.#writing = false
  }

  /** True: all of the group are settled. False: none is, as a record of it is refused for what it holds, and it is of several. */
  async #send(group: Pending[]): Promise<boolean> {
    try {
      settle(group, await this.#writer.write(group.flatMap((pending) => pending.records)))
    } catch (error) {
      if (group.length > 1 && isOfRecord(error)) return false
      for (const pending of group) pending.reject(error)
    }
    return true
  }

  /** As many of the oldest as one write may hold; at least one. */
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

/** Hands each waiter its offsets: those of a partition follow one another in the order of the records. */
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

/** Throws `payload-too-large` for a record that would make the broker refuse all that is written together with it. */
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
