/** All operations of the system, for those who ask. */
import { FollowedTopic } from '../concurrency/index.ts'
import type { Operation } from '../ports/index.ts'
import { OperationRecords } from './operation-records.ts'
import type { OperationsOptions } from './options.ts'

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
