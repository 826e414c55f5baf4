/**
 * The transactional writer: whole transactions under one id, fenced against every other holder of the id.
 *
 *   open ──InitProducerId──► ready ──commit──► committing ──EndTxn is answered──► ready
 *                                                  └─any error──► finished (only close is left)
 */
import type { Kafka } from 'kafkajs'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { FenceOptions, GroupPositions, RecordOut, TransactionalWriter } from '../../../ground/ports/index.ts'
import { clusterOf } from './cluster.ts'
import { closed, faultOn, type LogSettings } from './connection.ts'
import { faultOf } from './errors.ts'
import type { PartitionCounts } from './partition-counts.ts'
import { BatchProducer, checkSizes, placesOf, type RecordsOfPartition, roundsOf } from './produce.ts'
import type { TransactionProducer } from './producer-requests.ts'
import { type Doubts, Forbidden, TransactionCoordinator } from './transaction-coordinator.ts'

interface Parts {
  batches: BatchProducer
  coordinator: TransactionCoordinator
  counts: PartitionCounts
  settings: LogSettings
  closing: AbortController
}

export class FencedWriter implements TransactionalWriter {
  readonly #parts: Parts
  #producer: TransactionProducer
  /** Work that may continue after the caller got its failure. */
  #work: Promise<unknown> | undefined
  #state: 'ready' | 'committing' | 'finished' = 'ready'

  private constructor(producer: TransactionProducer, parts: Parts) {
    this.#parts = parts
    this.#producer = producer
  }

  /**
   * Resolves when the id is fenced: earlier holders can no longer commit, and their open transactions are aborted. The exception
   * is an unanswered commit of this process, which `doubts` holds: it is repeated before the fence.
   */
  static async open(
    kafka: Kafka,
    transactionalId: string,
    counts: PartitionCounts,
    settings: LogSettings,
    fence: FenceOptions = {},
    doubts: Doubts = new Set(),
  ): Promise<FencedWriter> {
    const cluster = clusterOf(kafka)
    const closing = new AbortController()
    const { signal } = closing
    const options = { transactionalId, timeoutMs: settings.transactionTimeoutMs, doubts, signal }
    const coordinator = new TransactionCoordinator(cluster, options)
    try {
      await cluster.connect()
      const producer = await coordinator.fence(fence)
      const batches = new BatchProducer(cluster, producer, { ...settings, transactionalId, signal })
      return new FencedWriter(producer, { batches, coordinator, counts, settings, closing })
    } catch (thrown) {
      await cluster.disconnect().catch(() => {})
      if (thrown instanceof Forbidden) throw thrown.reason
      throw faultOn(kafka, thrown, `Fencing the transactional id ${transactionalId}`)
    }
  }

  async commit(records: RecordOut[], group?: GroupPositions): Promise<Map<string, number>> {
    const { transactionalId } = this.#producer
    if (this.#state !== 'ready')
      throw new DuelogError(
        'internal',
        `The writer of ${transactionalId} is ${this.#state}. Wait for a commit before the next; after an error open a new writer.`,
      )
    this.#state = 'committing'
    try {
      const work = this.#commit(records, group)
      this.#work = work.catch(() => {})
      const offsets = await this.#withinTimeout(work)
      this.#state = 'ready'
      return offsets
    } catch (thrown) {
      this.#state = 'finished'
      throw faultOf(thrown, `A transaction of ${transactionalId}`)
    }
  }

  /** Work in flight ends with its next request. It may have reconnected by then, so the connections are closed once more. */
  async close(): Promise<void> {
    this.#state = 'finished'
    this.#parts.closing.abort(new DuelogError('internal', `The writer of ${this.#producer.transactionalId} was closed.`))
    await this.#disconnect()
    void this.#work?.then(() => this.#disconnect())
  }

  #disconnect(): Promise<void> {
    const { batches, settings } = this.#parts
    return closed(batches.close(), `The producer ${this.#producer.transactionalId}`, settings)
  }

  async #commit(records: RecordOut[], group: GroupPositions | undefined): Promise<Map<string, number>> {
    const { batches, counts, coordinator, settings } = this.#parts
    checkSizes(records)
    const rounds = roundsOf(records, counts.known(records) ?? (await counts.of(records)))
    if (rounds.length === 0 && group === undefined) return new Map()
    const endMs = performance.now() + settings.transactionTimeoutMs
    const offsets = await this.#write(rounds, group, endMs)
    this.#producer = await coordinator.commit(this.#producer, endMs)
    batches.become(this.#producer)
    return offsets
  }

  /** After a refusal the transaction is aborted, so that readers do not wait for the fence of the next writer. */
  async #write(rounds: RecordsOfPartition[][], group: GroupPositions | undefined, endMs: number): Promise<Map<string, number>> {
    const { batches, coordinator } = this.#parts
    try {
      const places = placesOf(rounds)
      if (!this.#producer.isV2 && places.length > 0) await coordinator.addPartitions(this.#producer, places, endMs)
      const offsets = await batches.produce(rounds, endMs)
      if (group !== undefined) await coordinator.commitOffsets(this.#producer, group, endMs)
      return offsets
    } catch (thrown) {
      const { code } = faultOf(thrown, '')
      if (code !== 'fenced' && code !== 'broker-unavailable') await coordinator.abort(this.#producer).catch(() => {})
      throw thrown
    }
  }

  /** Requests are repeated for as long as the coordinator keeps the transaction, and the last one may wait for its own timeout. */
  async #withinTimeout<Value>(work: Promise<Value>): Promise<Value> {
    const afterMs = this.#parts.settings.transactionTimeoutMs
    const text = `A transaction of ${this.#producer.transactionalId} was not done in ${afterMs} ms. Open a new writer.`
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new DuelogError('broker-unavailable', text)), afterMs)
    try {
      return await Promise.race([work, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }
}
