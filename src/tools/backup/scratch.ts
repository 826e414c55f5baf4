/**
 * What the logs say, sorted by partition and job on disk, so that memory does not grow with the number of jobs. It is a store in a temporary
 * folder, which is deleted at the end.
 *
 *   partition u16 BE · "J" · jobId · 00 · part u8 · rest of the key    an entry about a job
 *   partition u16 BE · "L" · name · 00 · rest of the key               an entry about a limit, or whatever is sorted by name
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { serialize } from 'node:v8'
import { keyAfter } from '../../../streams/state/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { PartitionStore, StoreEntry, StoreOp } from '../../ground/ports/index.ts'
import { reasonOf, rocksStores } from '../../log/store/index.ts'

/** Parts of a job. */
export const parts = { state: 1, run: 2, snapshot: 3, record: 4, command: 5, event: 6, followUps: 7 } as const
export type Part = (typeof parts)[keyof typeof parts]

const [jobMark, namedMark] = [0x4a, 0x4c]
/** Entries, and bytes of them, that are written or read together. */
const entriesAtOnce = 2_000
const bytesAtOnce = 4 * 1024 * 1024
/** Parts of one job that are kept until it is tried to reduce them. A job with its runs and snapshots has fewer, unless many of its runs are dead. */
const partsAtOnce = 200

export interface PartEntry {
  part: Part
  rest: Buffer
  value: Buffer
}

export class Scratch {
  readonly #store: PartitionStore
  readonly #folder: string
  #ops: StoreOp[] = []
  #bytes = 0

  private constructor(store: PartitionStore, folder: string) {
    this.#store = store
    this.#folder = folder
  }

  /** `parent`: an existing folder on a disk with room for the data of all jobs. */
  static async open(parent: string): Promise<Scratch> {
    const folder = await mkdtemp(join(parent, '.duelog-backup-')).catch((error: unknown) => {
      throw new DuelogError(
        'bad-usage',
        `No temporary folder can be created in ${parent}: ${messageOf(error)}. Name another with --work-folder.`,
      )
    })
    try {
      return new Scratch((await rocksStores(folder).open(0)).store, folder)
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** Null removes the entry. */
  async putPart(partition: number, jobId: Buffer | string, part: Part, rest: Buffer, value: Buffer | null): Promise<void> {
    await this.#put(Buffer.concat([jobKey(partition, jobId), Buffer.of(part), rest]), value)
  }

  async putNamed(partition: number, name: Buffer | string, rest: Buffer, value: Buffer | null): Promise<void> {
    await this.#put(Buffer.concat([nameKey(partition, name), rest]), value)
  }

  /** All parts of one job. */
  async partsOf(partition: number, jobId: string): Promise<PartEntry[]> {
    await this.flush()
    const from = jobKey(partition, jobId)
    const found: PartEntry[] = []
    for await (const { key, value } of this.#scan(from, Buffer.concat([from.subarray(0, -1), Buffer.of(1)])))
      found.push(partOf(key, from.length, value))
    return found
  }

  /**
   * The jobs of a partition in the order of their ids, each with all of its parts. `reduced` is given the parts of a job that has many, and keeps
   * those that count.
   */
  async *jobs(
    partition: number,
    reduced: (entries: PartEntry[]) => Promise<PartEntry[]> = async (entries) => entries,
  ): AsyncGenerator<{ id: string; entries: PartEntry[] }> {
    await this.flush()
    let id: Buffer | undefined
    let entries: PartEntry[] = []
    let most = partsAtOnce
    for await (const { key, value } of this.#scan(markKey(partition, jobMark), markKey(partition, jobMark + 1))) {
      const end = key.indexOf(0, 3)
      const found = key.subarray(3, end)
      if (id !== undefined && !id.equals(found)) {
        yield { id: id.toString(), entries }
        entries = []
        most = partsAtOnce
      }
      id = found
      entries.push(partOf(key, end + 1, value))
      if (entries.length < most) continue
      entries = await reduced(entries)
      most = entries.length + partsAtOnce
    }
    if (id !== undefined) yield { id: id.toString(), entries }
  }

  /** Entries by name. */
  async *named(partition: number): AsyncGenerator<{ name: string; rest: Buffer; value: Buffer }> {
    await this.flush()
    for await (const { key, value } of this.#scan(markKey(partition, namedMark), markKey(partition, namedMark + 1))) {
      const end = key.indexOf(0, 3)
      yield { name: key.toString('utf8', 3, end), rest: key.subarray(end + 1), value }
    }
  }

  async flush(): Promise<void> {
    const ops = this.#ops
    this.#ops = []
    this.#bytes = 0
    try {
      await this.#store.apply(ops)
    } catch (error) {
      throw new DuelogError(
        'bad-usage',
        `The temporary folder ${this.#folder} cannot be written: ${reasonOf(error)}. Look whether its disk is full, or name another with --work-folder.`,
        { cause: error },
      )
    }
  }

  async close(): Promise<void> {
    await this.#store.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #put(key: Buffer, value: Buffer | null): Promise<void> {
    this.#ops.push({ key, value })
    this.#bytes += key.length + (value?.length ?? 0)
    if (this.#ops.length >= entriesAtOnce || this.#bytes >= bytesAtOnce) await this.flush()
  }

  async *#scan(from: Buffer, to: Buffer): AsyncGenerator<StoreEntry> {
    for (let at = from; ; ) {
      const entries = await this.#store.scan({ from: at, to, limit: entriesAtOnce, bytesMax: bytesAtOnce })
      yield* entries
      const last = entries.at(-1)
      if (last === undefined) return
      at = keyAfter(last.key)
    }
  }
}

function markKey(partition: number, mark: number): Buffer {
  const key = Buffer.of(0, 0, mark)
  key.writeUInt16BE(partition)
  return key
}

const jobKey = (partition: number, jobId: Buffer | string): Buffer =>
  Buffer.concat([markKey(partition, jobMark), Buffer.from(jobId), Buffer.of(0)])
const nameKey = (partition: number, name: Buffer | string): Buffer =>
  Buffer.concat([markKey(partition, namedMark), Buffer.from(name), Buffer.of(0)])
const partOf = (key: Buffer, at: number, value: Buffer): PartEntry => ({
  part: key[at] as Part,
  rest: key.subarray(at + 1),
  value,
})

/** An offset as the end of a key, in the order of numbers. */
export function offsetKey(offset: number): Buffer {
  const key = Buffer.alloc(8)
  key.writeBigUInt64BE(BigInt(offset))
  return key
}
export const offsetOfKey = (rest: Buffer): number => Number(rest.readBigUInt64BE(0))

/** Any value, for this process alone. */
export const packed = (value: unknown): Buffer => serialize(value)
