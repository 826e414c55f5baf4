/** The records of the topic operations, and the progress of an operation in them. */
import type { OperationPart, OperationProgress, OperationRecord, OperationRecordInput } from '../../../schemas/index.ts'
import { keyPartitionOf, type TopicNames } from '../../../streams/topics/index.ts'
import { DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { Codec, CutOff, Operation, RecordIn, RecordOut } from '../../ground/ports/index.ts'
import { jobActions, runActions } from '../../ground/records/index.ts'
import type { Refused } from './page-changes.ts'

const parts = ['request', 'progress', 'cancel'] as const
type Part = (typeof parts)[number]

const knownActions: ReadonlySet<string> = new Set([...jobActions, ...runActions])

/** Actions of later versions are left to processes of these versions. */
export const isKnown = ({ request }: Operation): boolean => knownActions.has(request.action)

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

  readonly #onPassedOver: (record: RecordIn, problem: string) => void

  /** `onPassedOver`: called for each record that is not one of Duelog. Any client may write to the topic. */
  constructor(tools: RecordTools, onPassedOver: (record: RecordIn, problem: string) => void = () => {}) {
    this.#tools = tools
    this.#onPassedOver = onPassedOver
  }

  /** Resolves with the operation that the record belongs to. Rejects while the registry does not answer. */
  async take(taken: RecordIn): Promise<Operation | undefined> {
    const { key, value, partition } = taken
    const [, id = '', part = ''] = /^(.{1,64})\/(request|progress|cancel)$/s.exec(key?.toString() ?? '') ?? []
    if (id === '' || keyPartitionOf(id, this.#tools.partitions) !== partition) {
      this.#onPassedOver(taken, 'its key is not an operation of this partition')
      return undefined
    }
    if (value === null) {
      this.#known.delete(id)
      return undefined
    }
    const record = await this.#decoded(value)
    const problem = typeof record === 'string' ? record : problemOf(record, id, part as Part, this.#tools.partitions)
    if (typeof record === 'string' || problem !== undefined) {
      this.#onPassedOver(taken, problem ?? '')
      return undefined
    }
    const known = this.#known.get(id) ?? {}
    // An end is final, whatever a process writes that had not heard of it.
    if (part === 'progress' && known.progress?.progress?.endedAt != null) return this.get(id)
    // A request that was sent again is the same one.
    this.#known.set(id, part === 'request' && known.request !== undefined ? known : { ...known, [part]: record })
    return this.get(id)
  }

  /** A text says why it cannot be decoded. Without the registry it may be valid, so it is read again later. */
  async #decoded(value: Buffer): Promise<OperationRecord | string> {
    try {
      return await this.#tools.codec.decode(value)
    } catch (error) {
      if (error instanceof DuelogError && error.code === 'registry-unavailable') throw error
      return messageOf(error)
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

/** Why a record cannot be what its key says. */
function problemOf(record: OperationRecord, id: string, part: Part, partitions: number): string | undefined {
  if (record.id !== id || record[part] === null) return 'its value does not belong to its key'
  const numbers = record.progress?.parts.map(({ partition }) => partition) ?? []
  const isSound = new Set(numbers).size === numbers.length && numbers.every((number) => number >= 0 && number < partitions)
  return isSound ? undefined : 'its progress names partitions that do not exist, or one twice'
}

const reasonsMax = 20

/** `before`: of the process that carried it out until now. */
export function progressFrom(before: OperationProgress | undefined, startedAt: number, driver: string): OperationProgress {
  return {
    ...{ status: 'RUNNING', total: null, applied: 0, refused: 0, reasons: [], parts: [], effectiveAt: null, endedAt: null },
    ...{ startedAt, ...before },
    ...{ problem: null, driver },
  }
}

export const partOf = ({ jobsOffset, at: startedAt }: CutOff, partition: number): OperationPart => ({
  ...{ partition, jobsOffset, startedAt, after: null, pendingTo: null, pending: 0, left: 0, ended: false },
})

export const cutOffOf = ({ jobsOffset, startedAt: at }: OperationPart): CutOff => ({ jobsOffset, at })

export function noteRefusal({ reasons }: OperationProgress, { code, reason, example }: Refused, count: number): void {
  const known = reasons.find((one) => one.code === code)
  if (known !== undefined) known.count += count
  else if (reasons.length < reasonsMax) reasons.push({ code, reason: reason.slice(0, 1_000), count, example })
  reasons.sort((a, b) => b.count - a.count)
}
