/**
 * The API's writes to the log: one of a job after another, and within bounds.
 *
 * `BoundedWriter` bounds what waits for the brokers and returns the offset of each record.
 *
 * The writer itself joins concurrent calls in one request, keeps their order, and fails only the call whose record is refused. Its
 * own limit counts calls, because its other callers bound their bytes themselves. The API promises `overloaded` instead: requests
 * of many callers wait here, each with up to one megabyte.
 */
import { recordBytes } from '../../../../streams/topics/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { LogWriter, RecordOut } from '../../../ground/ports/index.ts'
import { lockWaitersMax, queuedBytesMax, queuedWritesMax, recordBytesMax } from '../schemas/index.ts'

/** A record with a chosen partition, so that its offset can be reported. */
export type PlacedRecord = RecordOut & { partition: number; key: string }

export class BoundedWriter {
  readonly #writer: LogWriter
  /** Number and bytes of the writes that the brokers have not answered. */
  #writes = 0
  #bytes = 0

  constructor(writer: LogWriter) {
    this.#writer = writer
  }

  /**
   * Resolves with the offset of each record, in order, once the broker has all of them. Rejects with `overloaded` before
   * anything is written, and with the writer's own error afterwards; the records may be in the log then.
   */
  async write(records: PlacedRecord[]): Promise<number[]> {
    if (records.length === 0) return []
    let bytes = 0
    for (const record of records) bytes += recordBytes(record)
    if (this.#bytes + bytes > queuedBytesMax || this.#writes >= queuedWritesMax) throw overloaded()
    this.#bytes += bytes
    this.#writes++
    try {
      return offsetsOf(records, await this.#writer.write(records))
    } finally {
      this.#bytes -= bytes
      this.#writes--
    }
  }
}

/** `first`: the first offset in each partition. The records of one write follow each other there. */
function offsetsOf(records: PlacedRecord[], first: ReadonlyMap<string, number>): number[] {
  const next = new Map(first)
  return records.map(({ topic, partition }) => {
    const place = `${topic}/${partition}`
    const offset = next.get(place)
    if (offset === undefined)
      throw new DuelogError('internal', `The broker accepted a write to ${place} and returned no offset for it.`)
    next.set(place, offset + 1)
    return offset
  })
}

/** Throws `payload-too-large` for a record that would make the broker refuse the whole write. */
export function checkSize(record: PlacedRecord): void {
  const bytes = recordBytes(record)
  if (bytes <= recordBytesMax) return
  throw new DuelogError(
    'payload-too-large',
    `The record of job ${JSON.stringify(record.key)} has ${bytes} bytes; the maximum is ${recordBytesMax}. Make its payload or headers smaller.`,
  )
}

function overloaded(): DuelogError {
  return new DuelogError(
    'overloaded',
    `More than ${queuedBytesMax} bytes or ${queuedWritesMax} writes wait for the brokers; nothing of this request was written. Send it again later.`,
  )
}

/** Runs tasks of one key one after another, in the order of their calls, and tasks of different keys concurrently. */

export class KeyedLock {
  readonly #tails = new Map<string, Promise<void>>()
  #waiting = 0

  /** Resolves or rejects like the task. Rejects with `overloaded` if too many tasks wait, of all keys together. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
    const before = this.#tails.get(key)
    if (before !== undefined && this.#waiting >= lockWaitersMax) {
      throw new DuelogError(
        'overloaded',
        `More than ${lockWaitersMax} writes wait for earlier ones to the same jobs; send this one again later.`,
      )
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#tails.set(key, promise)
    try {
      if (before !== undefined) {
        this.#waiting++
        await before.finally(() => this.#waiting--)
      }
      return await task()
    } finally {
      resolve()
      if (this.#tails.get(key) === promise) this.#tails.delete(key)
    }
  }
}
