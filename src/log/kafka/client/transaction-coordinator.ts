/**
 * What a transactional writer asks its coordinator. A request that is refused for a moment, or gets no answer, is asked again until its
 * time is over; after everything but "not yet" the coordinator is looked up again. So a lost coordinator needs no other writer.
 *
 * The exception is the end of a transaction of version 1. If nobody has answered it, the first request may still arrive, and would end
 * a later transaction under the same epoch. In version 2 each transaction has an epoch of its own (KIP-890), so the writer itself asks
 * again. An end that is still unanswered when the writer gives up is a doubt: the next writer of the id in this process asks again, right
 * before its fence, which would else abort what is left of a transaction that Kafka has committed in part (ADR 0070, 0146).
 */
import type { FenceOptions, GroupPositions, TopicPartition } from '../../../ground/ports/index.ts'
import { anyBroker, type Broker, type Cluster, coordinatorTypes } from './cluster.ts'
import { growingWaits, isLoss, retryWhile, typeOf } from './errors.ts'
import type { TransactionProducer } from './producer-requests.ts'
import * as requests from './producer-requests.ts'
import { answerOf, type OwnRequest, sendOwn } from './protocol.ts'

/** Commits of this process with an unknown outcome. */
export type Doubts = Set<TransactionProducer>

export interface TransactionOptions {
  transactionalId: string
  /** After this time the coordinator aborts a transaction, ms. */
  timeoutMs: number
  /** Shared by all writers of the process. */
  doubts: Doubts
  /** Once it is aborted, nothing more is sent. */
  signal: AbortSignal
  /** Any steady clock. */
  nowMs?: () => number
}

/** The permission to fence was refused, with this error. */
export class Forbidden {
  readonly reason: unknown
  constructor(reason: unknown) {
    this.reason = reason
  }
}

/** How long a permission to fence is valid: as long as the heartbeat interval of an owner, which brings new information. ms. */
const permittedMs = 300

/** Whether the same request may be done later, or by another broker. */
type IsPassing = (error: unknown) => boolean

/** No broker answered, or none that knows whether the transaction has ended. A broker that is being fenced answers UNKNOWN. */
const isUndecided: IsPassing = (error) => isLoss(error) || ['', 'UNKNOWN'].includes(typeOf(error))
/** The broker has answered, and has done nothing. */
const isRefusedForNow: IsPassing = (error) => isLoss(error) && typeOf(error) !== ''

export class TransactionCoordinator {
  readonly #cluster: Cluster
  readonly #options: TransactionOptions
  readonly #type: keyof typeof coordinatorTypes
  readonly #nowMs: () => number
  #nodeId: string | number | undefined

  constructor(cluster: Cluster, options: TransactionOptions, type: keyof typeof coordinatorTypes = 'transaction') {
    this.#cluster = cluster
    this.#options = options
    this.#type = type
    this.#nowMs = options.nowMs ?? (() => performance.now())
  }

  /** Resolves when the id is fenced: earlier holders can no longer commit, and their open transactions are aborted. */
  async fence({ mayFence, first }: FenceOptions = {}): Promise<TransactionProducer> {
    const { transactionalId, timeoutMs, doubts } = this.#options
    let permittedAtMs = Number.NEGATIVE_INFINITY
    const permission = async (): Promise<void> => {
      if (this.#nowMs() - permittedAtMs < permittedMs) return
      await mayFence?.().catch((reason) => {
        throw new Forbidden(reason)
      })
      permittedAtMs = this.#nowMs()
    }
    // Connections that are made before the permission cost no time while nobody may write.
    if (first !== undefined) await connectTo(this.#cluster, first).catch(() => {})
    const { isV2 } = await this.#ask(requests.featuresRequest(), this.#nowMs() + timeoutMs)
    await permission()
    const endMs = this.#nowMs() + timeoutMs
    for (const doubt of [...doubts].filter((each) => each.transactionalId === transactionalId)) await this.#endAgain(doubt, endMs)
    const init = requests.initProducerIdRequest(transactionalId, timeoutMs)
    const { producerId, producerEpoch } = await this.#ask(init, endMs, isLoss, permission)
    return { transactionalId, producerId, producerEpoch, isV2 }
  }

  /** Version 1 only: in version 2 the leaders do it. */
  async addPartitions(producer: TransactionProducer, places: readonly TopicPartition[], endMs: number): Promise<void> {
    await this.#ask(requests.addPartitionsRequest(producer, places), endMs)
  }

  async commitOffsets(producer: TransactionProducer, group: GroupPositions, endMs: number): Promise<void> {
    if (!producer.isV2) await this.#ask(requests.addOffsetsRequest(producer, group.groupId), endMs)
    const ofGroup = new TransactionCoordinator(this.#cluster, { ...this.#options, transactionalId: group.groupId }, 'group')
    await ofGroup.#ask(requests.commitOffsetsRequest(producer, group), endMs)
  }

  /** Resolves with the producer of the next transaction. */
  async commit(producer: TransactionProducer, endMs: number): Promise<TransactionProducer> {
    return this.#end(producer, endMs, producer.isV2 ? isUndecided : isRefusedForNow)
  }

  /** Asks once: the fence of the next writer aborts it too. */
  async abort(producer: TransactionProducer): Promise<void> {
    await this.#ask(requests.endRequest(producer, false), this.#nowMs())
  }

  /**
   * A commit is in doubt until the answer is more than a temporary refusal: a broker also sends that for a commit that is already
   * logged.
   */
  async #end(producer: TransactionProducer, endMs: number, isPassing: IsPassing): Promise<TransactionProducer> {
    const { doubts, signal } = this.#options
    signal.throwIfAborted()
    doubts.add(producer)
    try {
      const { next } = await this.#ask(requests.endRequest(producer, true), endMs, isPassing)
      doubts.delete(producer)
      return { ...producer, ...next }
    } catch (error) {
      if (!isUndecided(error)) doubts.delete(producer)
      throw error
    }
  }

  /**
   * It is safe any number of times: the epoch identifies the transaction, because no other has begun under it since. Once another
   * writer has fenced, it is refused.
   */
  async #endAgain(doubt: TransactionProducer, endMs: number): Promise<void> {
    try {
      await this.#end(doubt, endMs, isUndecided)
    } catch (error) {
      // A broker that cannot do this now cannot fence either. The next writer sends both requests again.
      if (isUndecided(error) && typeOf(error) !== 'UNKNOWN') throw error
      this.#options.doubts.delete(doubt)
    }
  }

  async #ask<Given extends object>(
    request: OwnRequest<Given>,
    endMs: number,
    isPassing: IsPassing = isLoss,
    before: () => Promise<void> = async () => {},
  ): Promise<Given> {
    const { transactionalId, signal } = this.#options
    const ask = async (): Promise<Given> => {
      signal.throwIfAborted()
      const broker = await this.#broker()
      await before()
      return answerOf(await sendOwn(broker, request), `${request.name} of ${transactionalId}`)
    }
    const isAgain: IsPassing = (error) => {
      if (typeOf(error) !== 'CONCURRENT_TRANSACTIONS') this.#nodeId = undefined
      return !signal.aborted && isPassing(error)
    }
    return retryWhile(isAgain, growingWaits(endMs, this.#nowMs), ask)
  }

  async #broker(): Promise<Broker> {
    if (this.#nodeId === undefined) {
      const broker = await anyBroker(this.#cluster)
      const asked = { groupId: this.#options.transactionalId, coordinatorType: coordinatorTypes[this.#type] }
      const { coordinator } = await broker.findGroupCoordinator(asked)
      this.#nodeId = coordinator.nodeId
    }
    return this.#cluster.findBroker({ nodeId: this.#nodeId })
  }
}

/** Failures show at the first write. */
async function connectTo(cluster: Cluster, { topic, partition }: TopicPartition): Promise<void> {
  await cluster.addMultipleTargetTopics([topic])
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  if (nodeId !== undefined) await cluster.findBroker({ nodeId })
}
