/**
 * The transactional writer: whole transactions under one id, fenced against every other holder of the id.
 *
 *   open ──InitProducerId──► ready ──commit──► committing ──EndTxn──► ready
 *                                                  └─any error──► finished (only close is left)
 */
import type { Kafka, Producer, Transaction } from 'kafkajs'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { FenceOptions, GroupPositions, RecordOut, TransactionalWriter } from '../../../ground/ports/index.ts'
import { unveiled } from './cluster.ts'
import { closed, faultOn, type LogSettings, transactionRetry } from './connection.ts'
import { faultOf } from './errors.ts'
import type { PartitionCounts } from './partition-counts.ts'
import { checkSizes, noPartitioner, produce, targetOf } from './produce.ts'
import { type Doubts, TransactionRequests } from './transaction-requests.ts'

export class FencedWriter implements TransactionalWriter {
  readonly #id: string
  readonly #producer: Producer
  readonly #counts: PartitionCounts
  readonly #settings: LogSettings
  readonly #requests: TransactionRequests
  /** The next transaction. A begin costs no request, so it is done ahead. */
  #transaction: Transaction | undefined
  /** Work of kafkajs that may continue after the caller got its failure. */
  #work: Promise<unknown> | undefined
  #state: 'ready' | 'committing' | 'finished' = 'ready'

  private constructor(
    id: string,
    producer: Producer,
    transaction: Transaction,
    requests: TransactionRequests,
    counts: PartitionCounts,
    settings: LogSettings,
  ) {
    this.#id = id
    this.#producer = producer
    this.#transaction = transaction
    this.#requests = requests
    this.#counts = counts
    this.#settings = settings
  }

  /**
   * Resolves when the id is fenced: earlier holders can no longer commit, and their open transactions are aborted. The exception
   * is an unanswered commit of this process, which `doubts` holds: it is repeated before the fence.
   */
  static async open(
    kafka: Kafka,
    id: string,
    counts: PartitionCounts,
    settings: LogSettings,
    { mayFence, first }: FenceOptions = {},
    doubts: Doubts = new Set(),
  ): Promise<FencedWriter> {
    const producer = kafka.producer({
      transactionalId: id,
      transactionTimeout: settings.transactionTimeoutMs,
      allowAutoTopicCreation: false,
      retry: transactionRetry,
      createPartitioner: noPartitioner,
    })
    let refusal: { error: unknown } | undefined
    const allowed = async (): Promise<void> => {
      await mayFence?.().catch((error) => {
        refusal = { error }
        throw error
      })
    }
    try {
      await producer.connect()
      const requests = new TransactionRequests(settings.transactionTimeoutMs, { mayFence: allowed, first }, doubts)
      // The first transaction() of a producer sends InitProducerId, which is the fence. The begin itself is local.
      const transaction = await requests.run(() => producer.transaction())
      return new FencedWriter(id, producer, transaction, requests, counts, settings)
    } catch (thrown) {
      await producer.disconnect().catch(() => {})
      if (refusal !== undefined) throw refusal.error
      const error = await unveiled(kafka, thrown, 'transaction', id)
      throw faultOn(kafka, error, `Fencing the transactional id ${id}`)
    }
  }

  async commit(records: RecordOut[], group?: GroupPositions): Promise<Map<string, number>> {
    if (this.#state !== 'ready')
      throw new DuelogError(
        'internal',
        `The writer of ${this.#id} is ${this.#state}. Wait for a commit before the next; after an error open a new writer.`,
      )
    this.#state = 'committing'
    try {
      const work = this.#requests.run(() => this.#commit(records, group))
      this.#work = work.catch(() => {})
      const offsets = await this.#withinTimeout(work)
      this.#state = 'ready'
      return offsets
    } catch (thrown) {
      this.#state = 'finished'
      throw faultOf(thrown, `A transaction of ${this.#id}`)
    }
  }

  /**
   * Work in flight ends with its next request to the coordinator. It may have reconnected by then, so the producer is
   * disconnected once more.
   */
  async close(): Promise<void> {
    this.#state = 'finished'
    this.#requests.close()
    await this.#disconnect()
    void this.#work?.then(() => this.#disconnect())
  }

  #disconnect(): Promise<void> {
    return closed(this.#producer.disconnect(), `The producer ${this.#id}`, this.#settings)
  }

  async #commit(records: RecordOut[], group: GroupPositions | undefined): Promise<Map<string, number>> {
    checkSizes(records)
    const counts = this.#counts.known(records) ?? (await this.#counts.of(records))
    const transaction = this.#transaction ?? (await this.#producer.transaction())
    this.#transaction = undefined
    this.#requests.begin(placesOf(records, counts))
    const offsets = await produce(records, counts, {
      sendBatch: (batch) => transaction.sendBatch(batch),
      counts: this.#counts,
      requestTimeoutMs: this.#settings.requestTimeoutMs,
      onAppended: this.#settings.onAppended,
    })
    if (group !== undefined) await transaction.sendOffsets(groupOffsets(group))
    await transaction.commit()
    return offsets
  }

  /**
   * kafkajs retries for longer than the coordinator keeps the transaction. Its late writes carry this writer's epoch, which the
   * next writer's fence ends. Once this writer is closed, nothing commits them.
   */
  async #withinTimeout<Value>(work: Promise<Value>): Promise<Value> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      const afterMs = this.#settings.transactionTimeoutMs
      timer = setTimeout(
        () =>
          reject(
            new DuelogError(
              'broker-unavailable',
              `A transaction of ${this.#id} was not done in ${afterMs} ms. Open a new writer.`,
            ),
          ),
        afterMs,
      )
    })
    try {
      return await Promise.race([work, late])
    } finally {
      clearTimeout(timer)
    }
  }
}

function placesOf(records: RecordOut[], counts: ReadonlyMap<string, number>): Map<string, Set<number>> {
  const places = new Map<string, Set<number>>()
  for (const record of records) {
    const partitions = places.get(record.topic) ?? new Set()
    places.set(record.topic, partitions.add(targetOf(record, counts)))
  }
  return places
}

function groupOffsets({ groupId, positions }: GroupPositions): Parameters<Transaction['sendOffsets']>[0] {
  const topics = positions.map(({ topic, partition, offset }) => ({ topic, partitions: [{ partition, offset: String(offset) }] }))
  return { consumerGroupId: groupId, topics }
}
