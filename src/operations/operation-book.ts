/**
 * All operations of the system, for those who ask. The first query starts to read the topic, in a group of this process; after that its
 * end is followed. A query is answered when all earlier records have been read.
 */
import { DuelogError } from '../errors/index.ts'
import type { Batch, GroupReader, Operation } from '../ports/index.ts'
import { OperationRecords } from './operation-records.ts'
import type { OperationsOptions } from './options.ts'

type End = { partition: number; earliest: number; next: number }

export class OperationBook {
  readonly #options: OperationsOptions
  #records: OperationRecords
  readonly #next = new Map<number, number>()
  #opening: Promise<GroupReader> | undefined
  readonly #waiting = new Set<() => void>()
  #stopped = false

  constructor(options: OperationsOptions) {
    this.#options = options
    this.#records = this.#newRecords()
  }

  /** Rejects with `not-ready` while the topic cannot be read. */
  async all(): Promise<Operation[]> {
    await this.#read()
    return this.#records.all()
  }

  async get(id: string): Promise<Operation | undefined> {
    await this.#read()
    return this.#records.get(id)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#opening?.then((reader) => reader.stop()).catch(() => undefined)
  }

  #newRecords(): OperationRecords {
    const { codecs, names, partitions } = this.#options
    return new OperationRecords({ codec: codecs.operation, names, partitions })
  }

  async #read(): Promise<void> {
    const { admin, names } = this.#options
    const ends = await admin.offsets(names.operations)
    this.#opening ??= this.#open(ends).catch((error) => {
      this.#opening = undefined
      throw error
    })
    await this.#opening
    await this.#caughtUp(ends)
  }

  async #open(ends: readonly End[]): Promise<GroupReader> {
    const { log, names, instance } = this.#options
    if (this.#stopped) throw new DuelogError('not-ready', 'This process is stopping.')
    this.#records = this.#newRecords()
    for (const { partition, earliest } of ends) this.#next.set(partition, earliest)
    const reader = log.reader({
      groupId: names.group(`operations.${instance}`),
      topics: [names.operations],
      instance,
      onAssigned: () => ({
        positions: Array.from(this.#next, ([partition, offset]) => ({ topic: names.operations, partition, offset })),
      }),
      onBatch: (batch) => this.#take(batch),
      onPassed: ({ partition, offset }) => this.#passed(partition, offset),
      // The next query restarts.
      onCrash: () => {
        this.#opening = undefined
      },
    })
    await reader.start()
    return reader
  }

  async #take({ partition, records }: Batch): Promise<void> {
    for (const record of records) {
      if (record.offset < (this.#next.get(partition) ?? 0)) continue
      await this.#records.take(record)
      this.#next.set(partition, record.offset + 1)
    }
    for (const look of [...this.#waiting]) look()
  }

  /** Compaction may have removed the last records. */
  #passed(partition: number, offset: number): void {
    this.#next.set(partition, Math.max(offset, this.#next.get(partition) ?? 0))
    for (const look of [...this.#waiting]) look()
  }

  #caughtUp(ends: readonly End[]): Promise<void> {
    const { clock, limits } = this.#options
    const there = (): boolean =>
      ends.every(({ partition, earliest, next }) => next === earliest || (this.#next.get(partition) ?? 0) >= next)
    if (there()) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        cancelTimer()
        this.#waiting.delete(look)
        settle()
      }
      const look = (): void => {
        if (there()) end(resolve)
      }
      const late = new DuelogError(
        'not-ready',
        'The operations have not been read up to the end of their topic yet; send the request again soon.',
      )
      const cancelTimer = clock.at(clock.nowMs() + limits.operationsCaughtUpMs, () => end(() => reject(late)))
      this.#waiting.add(look)
      look()
    })
  }
}
