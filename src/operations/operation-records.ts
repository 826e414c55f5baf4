/** The records of operations: their keys, and what they say together. */
import type { OperationProgress, OperationRecord, OperationRecordInput } from '../../schemas/index.ts'
import { keyPartitionOf, type TopicNames } from '../../streams/topics/index.ts'
import type { Codec, Operation, RecordIn, RecordOut } from '../ports/index.ts'

const parts = ['request', 'progress', 'cancel'] as const
type Part = (typeof parts)[number]

export interface RecordTools {
  codec: Codec<OperationRecord, OperationRecordInput>
  names: Pick<TopicNames, 'operations'>
  partitions: number
}

/** The record of one part of an operation. */
export function partRecord({ codec, names, partitions }: RecordTools, record: OperationRecordInput): RecordOut {
  const part = parts.find((name) => record[name] != null)
  return {
    topic: names.operations,
    partition: keyPartitionOf(record.id, partitions),
    key: `${record.id}/${part}`,
    value: codec.encode(record),
  }
}

/** Deletes all parts of an operation. */
export function tombstones({ names, partitions }: RecordTools, id: string): RecordOut[] {
  const partition = keyPartitionOf(id, partitions)
  return parts.map((part) => ({ topic: names.operations, partition, key: `${id}/${part}`, value: null }))
}

/** What the records of some partitions say, in whatever order their parts come: compaction keeps the latest record of each part. */
export class OperationRecords {
  readonly #tools: RecordTools
  readonly #known = new Map<string, Partial<Record<Part, OperationRecord>>>()

  constructor(tools: RecordTools) {
    this.#tools = tools
  }

  /** Resolves with the operation that the record belongs to. A record that is not of Duelog is passed over: any client may write to the topic. */
  async take({ key, value, partition }: Pick<RecordIn, 'key' | 'value' | 'partition'>): Promise<Operation | undefined> {
    const [, id = '', part = ''] = /^(.{1,64})\/(request|progress|cancel)$/s.exec(key?.toString() ?? '') ?? []
    if (id === '' || keyPartitionOf(id, this.#tools.partitions) !== partition) return undefined
    if (value === null) {
      this.#known.delete(id)
      return undefined
    }
    const record = await this.#decoded(value)
    if (record === undefined || record.id !== id || record[part as Part] === null) return undefined
    const known = this.#known.get(id) ?? {}
    // An end is final, whatever a process writes that had not heard of it.
    if (part === 'progress' && known.progress?.progress?.endedAt != null) return this.get(id)
    // A request that was sent again is the same one.
    this.#known.set(id, part === 'request' && known.request !== undefined ? known : { ...known, [part]: record })
    return this.get(id)
  }

  async #decoded(value: Buffer): Promise<OperationRecord | undefined> {
    try {
      return await this.#tools.codec.decode(value)
    } catch {
      return undefined
    }
  }

  /** The last progress of an operation that this process has ended, before its record comes back. */
  end(id: string, progress: OperationProgress): void {
    const known = this.#known.get(id)
    if (known !== undefined)
      this.#known.set(id, { ...known, progress: { id, at: progress.endedAt ?? 0, request: null, progress, cancel: null } })
  }

  /** Undefined also while its request has not been read. */
  get(id: string): Operation | undefined {
    const { request, progress, cancel } = this.#known.get(id) ?? {}
    if (request?.request == null) return undefined
    return {
      id,
      createdAt: request.at,
      request: request.request,
      progress: progress?.progress ?? undefined,
      cancel: cancel?.cancel ?? undefined,
    }
  }

  all(): Operation[] {
    return [...this.#known.keys()].map((id) => this.get(id)).filter((operation) => operation !== undefined)
  }

  /** Operations of these partitions are forgotten. */
  forget(partitions: ReadonlySet<number>): void {
    for (const id of this.#known.keys()) {
      if (partitions.has(keyPartitionOf(id, this.#tools.partitions))) this.#known.delete(id)
    }
  }
}
