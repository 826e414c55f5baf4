/**
 * Follows the runs of one pool in the log, as any Kafka consumer could: executions, events and dead letters, read committed. It
 * uses a consumer group of its own and commits nothing.
 *
 * The demo and generate read with it. The auditor does not: it reads all pools and saves its positions with its accounts.
 */
import { priorities, type TopicNames } from '../../../../streams/topics/index.ts'
import type { Batch, GroupReader, Log, Position } from '../../../ground/ports/index.ts'
import { type Fact, type FactCodecs, strictFactOf } from './record-facts.ts'

export interface LogFollowerOptions {
  log: Log
  codecs: FactCodecs
  names: TopicNames
  pool: string
  /** Name of the program, as the member of the group. */
  instance: string
  /** Name of the consumer group, without the prefix. Default: `instance`. */
  group?: string
  /** Also read job-state. Default: no. */
  withStates?: boolean
  /** Called once for each record about a job, in the order of its partition. */
  onFact(fact: Fact): void
  /** Reading failed, or a record was not readable. */
  onError(error: Error): void
}

export class LogFollower {
  readonly #options: LogFollowerOptions
  readonly #topics: string[]
  readonly #reader: GroupReader
  /** Next offset by `topic/partition`. Reading continues there after a rebalance, so that no record is entered twice. */
  readonly #next = new Map<string, Position>()

  constructor(options: LogFollowerOptions) {
    const { log, names, pool, instance, group = instance, withStates = false } = options
    this.#options = options
    const executions = priorities.flatMap((priority) => [false, true].map((ahead) => names.executions(pool, priority, ahead)))
    this.#topics = [...executions, names.events, names.deadLetters, ...(withStates ? [names.state] : [])]
    this.#reader = log.reader({
      groupId: names.group(group),
      instance,
      topics: this.#topics,
      onAssigned: () => ({ positions: [...this.#next.values()] }),
      onBatch: (batch) => this.#read(batch),
      onCrash: options.onError,
    })
  }

  /** Reads the log from its beginning. */
  start(): Promise<void> {
    return this.#reader.start()
  }

  /** Reads the log from its present end. When it resolves, the records of all later jobs are certain to be read. */
  async startAtEnd(): Promise<void> {
    const admin = await this.#options.log.admin()
    try {
      for (const topic of this.#topics)
        for (const { partition, next } of await admin.offsets(topic)) this.#passed({ topic, partition, offset: next })
    } finally {
      await admin.close()
    }
    await this.#reader.start()
  }

  stop(): Promise<void> {
    return this.#reader.stop()
  }

  async #read({ topic, partition, records }: Batch): Promise<void> {
    const { names, codecs, onFact, onError } = this.#options
    try {
      for (const record of records) {
        if (record.offset < (this.#next.get(`${topic}/${partition}`)?.offset ?? 0)) continue
        const fact = await strictFactOf(names, codecs, record)
        if (fact !== undefined) onFact(fact)
        this.#passed({ topic, partition, offset: record.offset + 1 })
      }
    } catch (error) {
      onError(error as Error)
    }
  }

  #passed(position: Position): void {
    this.#next.set(`${position.topic}/${position.partition}`, position)
  }
}
