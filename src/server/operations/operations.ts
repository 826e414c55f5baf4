/** Operations of the system: they are asked for, looked up and cancelled here, and the driver carries them out. */
import { createHash, randomUUID } from 'node:crypto'
import type { OperationRecordInput, OperationRequest } from '../../../schemas/index.ts'
import { recordBytes } from '../../../streams/topics/index.ts'
import { FollowedTopic } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { Asker, LogWriter, Operation, Operations } from '../../ground/ports/index.ts'
import { hasEnded } from '../../ground/records/index.ts'
import { OperationDriver } from './operation-driver.ts'
import { isKnown, OperationRecords, partRecord } from './operation-records.ts'
import type { Ask, OperationsOptions } from './options.ts'
import { Selection } from './target-pages.ts'

export interface RunningOperations extends Operations {
  /** Joins the group of those that carry out operations, in the background. */
  start(): void
  stop(): Promise<void>
}

/** `writer` is owned by the caller: stop() does not close it. */
export function createOperations(options: OperationsOptions, writer: LogWriter): RunningOperations {
  return new SystemOperations(options, writer)
}

class SystemOperations implements RunningOperations {
  readonly #options: OperationsOptions
  readonly #writer: LogWriter
  readonly #book: OperationBook
  readonly #driver: OperationDriver
  /** Callers of operations that are written and not read yet, by id. */
  readonly #begun = new Map<string, string | null>()

  constructor(options: OperationsOptions, writer: LogWriter) {
    this.#options = options
    this.#writer = writer
    this.#book = new OperationBook(options)
    this.#driver = new OperationDriver(options, writer)
  }

  start(): void {
    this.#driver.start()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#driver.stop(), this.#book.stop()])
  }

  async create(request: OperationRequest, key?: string): Promise<Operation> {
    const known = await this.#book.all()
    const id = key === undefined ? randomUUID() : keyedId(request.actor, key)
    const same = known.find((operation) => operation.id === id)
    if (same !== undefined) return same
    this.#checkRoom(known, request)
    this.#begun.set(id, request.actor)
    try {
      const createdAt = await this.#write({ id, request })
      return { id, createdAt, request, progress: undefined, cancel: undefined }
    } catch (error) {
      this.#begun.delete(id)
      throw error
    }
  }

  /** Those that this process has begun count from the moment of the check, and not only once they are read. */
  #checkRoom(known: readonly Operation[], { action, actor }: OperationRequest): void {
    const { operationsActiveMax, operationsPerCallerMax, operationsReserved } = this.#options.limits
    for (const { id } of known) this.#begun.delete(id)
    const open = known.filter((operation) => !hasEnded(operation) && isKnown(operation)).map(({ request }) => request.actor)
    const active = [...open, ...this.#begun.values()]
    const mine = active.filter((one) => one === actor).length
    const reserved = stopping.has(action) || mine === 0 ? 0 : operationsReserved
    if (mine >= operationsPerCallerMax - reserved)
      throw new DuelogError(
        'too-many-requests',
        `${mine} operations of this caller have not ended, and at most ${operationsPerCallerMax - reserved} may go on at once; send it again when one has ended.`,
      )
    if (active.length >= operationsActiveMax - reserved)
      throw new DuelogError(
        'overloaded',
        `${active.length} operations have not ended, and at most ${operationsActiveMax - reserved} may go on at once; send it again when one has ended.`,
      )
  }

  async count(request: OperationRequest, asker?: Asker): Promise<number> {
    const { owners, partitions } = this.#options
    const selection = new Selection(randomUUID(), request, partitions)
    const counts = await Promise.all(
      Array.from({ length: partitions }, async (_, partition) => {
        const ask: Ask = (question) => owners.ask(partition, question)
        const cutOff = await ask((owner) => selection.cutOff(owner, partition, asker))
        return selection.count(ask, partition, cutOff, asker)
      }),
    )
    return counts.reduce((sum, count) => sum + count, 0)
  }

  get(id: string): Promise<Operation | undefined> {
    return this.#book.get(id)
  }

  async list(): Promise<Operation[]> {
    return (await this.#book.all()).sort((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1))
  }

  async cancel(id: string, actor: string | null): Promise<Operation | undefined> {
    const operation = await this.#book.get(id)
    if (operation === undefined || hasEnded(operation) || operation.cancel !== undefined) return operation
    const cancel = { actor }
    await this.#write({ id, cancel })
    return { ...operation, cancel }
  }

  async #write(part: Omit<OperationRecordInput, 'at'>): Promise<number> {
    const { codecs, names, partitions, clock, limits } = this.#options
    const at = clock.nowMs()
    const record = partRecord({ codec: codecs.operation, names, partitions }, { ...part, at })
    if (recordBytes(record) > limits.recordBytesMax) {
      const text = `The lists of the operation take ${recordBytes(record)} bytes, and at most ${limits.recordBytesMax} fit; make several operations of them.`
      throw new DuelogError('payload-too-large', text)
    }
    await this.#writer.write([record])
    return at
  }
}

/** Actions that stop work: in an emergency there is room for them. */
const stopping: ReadonlySet<string> = new Set(['PAUSE', 'CANCEL', 'CANCEL_RUN'])

/** The same operation for the same key of the same caller. */
const keyedId = (actor: string | null, key: string): string =>
  createHash('sha256')
    .update(JSON.stringify([actor, key]))
    .digest('hex')
    .slice(0, 32)

export class OperationBook {
  readonly #options: OperationsOptions
  readonly #topic: FollowedTopic
  #records: OperationRecords

  constructor(options: OperationsOptions) {
    const { log, admin, names, instance, clock, limits } = options
    this.#options = options
    this.#records = this.#newRecords()
    this.#topic = new FollowedTopic({
      ...{ log, admin, instance, clock, topic: names.operations, groupId: names.group(`operations.${instance}`) },
      caughtUpMs: limits.operationsCaughtUpMs,
      lateText: 'The operations have not been read up to the end of their topic yet; send the request again soon.',
      onBegin: () => {
        this.#records = this.#newRecords()
      },
      onRecord: (record) => this.#records.take(record),
    })
  }

  /** Rejects with `not-ready` while the topic cannot be read. */
  async all(): Promise<Operation[]> {
    await this.#topic.readToEnd()
    return this.#records.all()
  }

  async get(id: string): Promise<Operation | undefined> {
    await this.#topic.readToEnd()
    return this.#records.get(id)
  }

  stop(): Promise<void> {
    return this.#topic.stop()
  }

  #newRecords(): OperationRecords {
    const { codecs, names, partitions } = this.#options
    return new OperationRecords({ codec: codecs.operation, names, partitions })
  }
}
