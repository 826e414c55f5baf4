/**
 * Sends the requests of a transaction to its coordinator, as few as possible. kafkajs looks up the coordinator before each
 * request to it, adds partitions one write at a time, and answers each "not yet" with fresh metadata of all topics. A transaction
 * that writes to two brokers awaits eight answers one after the other, and more while the previous transaction is ending. Here it
 * is three:
 *
 *   AddPartitionsToTxn   all partitions at once ──► Produce   to all brokers at once ──► EndTxn
 *
 * The coordinator is looked up once, and again after a refusal or a lost connection. It may refuse temporarily, because the
 * previous transaction is still ending or because it has just become the coordinator. Then it has done nothing, so the same
 * request is sent again after a moment. If a commit was not answered, the next writer of the id repeats it, right before its
 * fence, and nobody else does: the first request may still arrive, and would then end a later transaction under the same epoch
 * (KIP-890). With only the fence, Kafka may abort one part of a transaction after it has committed another part (ADR 0070).
 *
 * kafkajs has no hook for any of this, so a method of its cluster is replaced, for code that runs in the scope of one of our
 * writers.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import type { FenceOptions, TopicPartition } from '../../../ground/ports/index.ts'
import { movedTypes } from './errors.ts'

interface Topic {
  topic: string
  partitions: number[]
}

interface Adding {
  transactionalId: string
  producerId: string
  producerEpoch: number
  topics: Topic[]
}

interface End {
  transactionalId: string
  producerId: string
  producerEpoch: number
  /** True for a commit. */
  transactionResult: boolean
}

/** The requests that kafkajs sends to a transaction coordinator. */
interface Coordinator {
  nodeId: string | number
  initProducerId(request: { transactionalId: string }): Promise<unknown>
  addPartitionsToTxn(request: Adding): Promise<unknown>
  addOffsetsToTxn(request: object): Promise<unknown>
  endTxn(request: End): Promise<unknown>
}

interface Question {
  groupId: string
  coordinatorType?: number
}

/** The part of kafkajs's cluster that is used here. */
interface Cluster {
  addMultipleTargetTopics(topics: string[]): Promise<void>
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>
  findGroupCoordinator(question: Question): Promise<Coordinator>
  findBroker(of: { nodeId: string | number }): Promise<Coordinator>
}

/** Commits of this process with an unknown outcome. */
export type Doubts = Set<End>

const ofTransactions = 1
/** The first and the longest wait after a temporary refusal, and the growth factor. ms. */
const [waitMsMin, waitMsMax, waitFactor] = [3, 250, 1.6]
const notYet = 'CONCURRENT_TRANSACTIONS'
/** An internal error of the broker, for example while it is being fenced. */
const failed = 'UNKNOWN'
/** How long a permission to fence is valid: as long as the heartbeat interval of an owner, which brings new information. ms. */
const permittedMs = 300

const scopes = new AsyncLocalStorage<TransactionRequests>()
let isInstalled = false

export class TransactionRequests {
  readonly #limitMs: number
  /** Until when a refused request is retried, by the steady clock. */
  #endMs: number
  readonly #fence: FenceOptions
  readonly #doubts: Doubts
  readonly #nowMs: () => number
  /** When the fence was last permitted. */
  #permittedAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false
  #nodeId: string | number | undefined
  /** All partitions of the current transaction, which its first request adds. */
  #coming: Topic[] = []
  #adding: Promise<unknown> | undefined
  /** The same as `topic/partition`; empty once that request was refused. */
  #added = new Set<string>()

  /**
   * `limitMs`: how long after its begin a transaction, or the fence before the first one, retries; the coordinator aborts it
   * then. `doubts`: shared by all writers of the process. `nowMs`: any steady clock.
   */
  constructor(limitMs: number, fence: FenceOptions = {}, doubts: Doubts = new Set(), nowMs = (): number => performance.now()) {
    this.#limitMs = limitMs
    this.#fence = fence
    this.#doubts = doubts
    this.#nowMs = nowMs
    this.#endMs = nowMs() + limitMs
  }

  /** Requests of the writer's producer that run in it are sent in our way. */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    install()
    return scopes.run(this, work)
  }

  /**
   * No more requests reach a coordinator. Retries of kafkajs for a closed writer can neither add to its transaction nor commit
   * it.
   */
  close(): void {
    this.#isClosed = true
  }

  /** Begins a transaction that writes to these partitions. */
  begin(places: ReadonlyMap<string, Iterable<number>>): void {
    this.#coming = [...places].map(([topic, partitions]) => ({ topic, partitions: [...partitions] }))
    this.#adding = undefined
    this.#endMs = this.#nowMs() + this.#limitMs
    this.#added = new Set(namesOf(this.#coming))
  }

  /** Returns the coordinator when kafkajs asks for it. */
  async find(cluster: Cluster, question: Question, usual: Cluster['findGroupCoordinator']): Promise<Coordinator> {
    this.#requireOpen()
    const broker = (): Promise<Coordinator> => this.#broker(cluster, question, usual)
    const { nodeId } = await broker()
    const retried =
      <Request>(send: (broker: Coordinator, request: Request) => Promise<unknown>, isPassing = isNotNow) =>
      (request: Request): Promise<unknown> =>
        this.#untilReady(async () => send(await broker(), request), isPassing)
    const fence = retried(async (to, request: { transactionalId: string }) => {
      await this.#permitted()
      return to.initProducerId(request)
    })
    const end = retried<End>((to, request) => to.endTxn(request))
    const endAgain = retried<End>((to, request) => to.endTxn(request), isUndecided)
    const add = retried<Adding>((to, request) => to.addPartitionsToTxn(request))
    return {
      nodeId,
      initProducerId: async (request) => {
        await this.#ready(cluster)
        await this.#endAgain(request.transactionalId, endAgain)
        return fence(request)
      },
      addPartitionsToTxn: (request) => this.#add(request, add),
      addOffsetsToTxn: retried((to, request) => to.addOffsetsToTxn(request)),
      endTxn: (request) => this.#end(request, end),
    }
  }

  /**
   * A commit is in doubt until the answer is more than a temporary refusal: a broker also sends that for a commit that is already
   * logged.
   */
  async #end(request: End, end: (request: End) => Promise<unknown>): Promise<unknown> {
    this.#requireOpen()
    if (request.transactionResult) this.#doubts.add(request)
    try {
      const answer = await end(request)
      this.#doubts.delete(request)
      return answer
    } catch (error) {
      if (!isUndecided(typeOf(error))) this.#doubts.delete(request)
      throw error
    }
  }

  /**
   * Repeats an unanswered commit, before a fence would abort the rest of a transaction that is partly committed. It is safe to
   * repeat it any number of times: the epoch identifies the transaction, because no other has begun under it since. Once another
   * writer has fenced, it is refused.
   */
  async #endAgain(transactionalId: string, end: (request: End) => Promise<unknown>): Promise<void> {
    for (const doubt of [...this.#doubts].filter((each) => each.transactionalId === transactionalId))
      try {
        await this.#end(doubt, end)
      } catch (error) {
        const type = typeOf(error)
        // A broker that cannot do this now cannot fence either. It gets both requests again.
        if (isUndecided(type) && type !== failed) throw error
        this.#doubts.delete(doubt)
      }
  }

  /** Resolves once the fence may be sent. The connection made before it costs no time while nobody may write. */
  async #ready(cluster: Cluster): Promise<void> {
    const { first } = this.#fence
    if (first !== undefined) await connectTo(cluster, first).catch(() => {})
    await this.#permitted()
  }

  /** During a long refusal the partition may get another owner: each retry needs a new permission. */
  async #permitted(): Promise<void> {
    if (this.#nowMs() - this.#permittedAtMs < permittedMs) return
    await this.#fence.mayFence?.()
    this.#permittedAtMs = this.#nowMs()
  }

  async #broker(cluster: Cluster, question: Question, usual: Cluster['findGroupCoordinator']): Promise<Coordinator> {
    if (this.#nodeId !== undefined) {
      try {
        return await cluster.findBroker({ nodeId: this.#nodeId })
      } catch {
        this.#nodeId = undefined
      }
    }
    const found = await usual.call(cluster, question)
    this.#nodeId = found.nodeId
    return found
  }

  /** The first request of a transaction adds all its partitions. Later requests for a part of them wait for that one. */
  #add(request: Adding, add: (request: Adding) => Promise<unknown>): Promise<unknown> {
    if (!namesOf(request.topics).every((name) => this.#added.has(name))) return add(request)
    this.#adding ??= add({ ...request, topics: this.#coming })
    // If one partition is refused, the answer names any other as well. Then each is added separately, and each caller gets the
    // true reason.
    return this.#adding.catch((error) => {
      this.#added.clear()
      if (typeOf(error) === undefined) throw error
      return add(request)
    })
  }

  async #untilReady(ask: () => Promise<unknown>, isPassing: (type: string | undefined) => boolean): Promise<unknown> {
    for (let waitMs = waitMsMin; ; waitMs = Math.min(waitMs * waitFactor, waitMsMax)) {
      try {
        return await ask()
      } catch (error) {
        const type = typeOf(error)
        if (type !== notYet) this.#nodeId = undefined
        // The broker has answered. It, or another one, will be ready in a moment.
        if (type === undefined || !isPassing(type) || this.#nowMs() >= this.#endMs) throw error
      }
      await wait(waitMs)
      this.#requireOpen()
    }
  }

  /** kafkajs retries all errors except those with `retriable: false`. */
  #requireOpen(): void {
    if (this.#isClosed) throw Object.assign(new Error('the writer was closed'), { retriable: false })
  }
}

/** Failures show at the first write. */
async function connectTo(cluster: Cluster, { topic, partition }: TopicPartition): Promise<void> {
  await cluster.addMultipleTargetTopics([topic])
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  if (nodeId !== undefined) await cluster.findBroker({ nodeId })
}

/** The error type of a broker's answer; undefined if no broker answered. */
const typeOf = (error: unknown): string | undefined => (error as { type?: string }).type

const isNotNow = (type = ''): boolean => type === notYet || movedTypes.has(type)

/** No broker answered, or none that knows whether the transaction has ended. */
const isUndecided = (type: string | undefined): boolean => type === undefined || type === failed || isNotNow(type)

const namesOf = (topics: readonly Topic[]): string[] =>
  topics.flatMap(({ topic, partitions }) => partitions.map((partition) => `${topic}/${partition}`))

/** All other users of kafkajs in this process keep the original. */
function install(): void {
  if (isInstalled) return
  isInstalled = true
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/cluster/index.js') as { prototype: Cluster }
  const { findGroupCoordinator } = prototype
  prototype.findGroupCoordinator = function (this: Cluster, question: Question): Promise<Coordinator> {
    const requests = question.coordinatorType === ofTransactions ? scopes.getStore() : undefined
    return requests === undefined
      ? findGroupCoordinator.call(this, question)
      : requests.find(this, question, findGroupCoordinator)
  }
}
