/**
 * What a transaction asks of its coordinator, in as few requests as it takes. kafkajs looks for the coordinator before each request to it, adds
 * partitions one write at a time, and answers each "not yet" with fresh metadata of all topics: eight answers that are awaited one after the
 * other where a transaction writes to two brokers, and more where the one before is just being ended. Here it is three:
 *
 *   AddPartitionsToTxn   all partitions at once ──► Produce   to all brokers at once ──► EndTxn
 *
 * The coordinator is looked for once, and again when it has refused or lost anything. Where it says that it cannot just now (the transaction
 * before is still being ended, or it has just become the coordinator), it has done nothing that asking again would do twice: the same request
 * is sent again after a moment. A commit that it has not answered is asked for again by the next writer of the id, right before its fence,
 * and by nobody else: the first request may still arrive, and would then end a transaction that follows under the same epoch (KIP-890). Left to
 * the fence alone, Kafka may abort a part of what it has committed in another part (ADR 0070).
 *
 * kafkajs has no place for any of this, so a method of its cluster is replaced, for what runs in the scope of one of our writers.
 */
import { createRequire } from 'node:module'
import { setTimeout as wait } from 'node:timers/promises'
import type { FenceOptions, TopicPartition } from '../../ports/index.ts'
import { movedTypes } from './lost-coordinator.ts'
import { replacedFor } from './overrides.ts'
import type { Adding, Cluster, Coordinator, End, Question, Topic } from './transaction-cluster.ts'

/** Commits of this process of which nobody knows what became of them. */
export type Doubts = Set<End>

const ofTransactions = 1
/** The first wait where the coordinator cannot just now, and the longest; each is longer than the one before by the factor. ms. */
const [waitMsMin, waitMsMax, waitFactor] = [3, 250, 1.6]
const notYet = 'CONCURRENT_TRANSACTIONS'
/** A fault of the broker itself, as of one that is fenced in that moment. */
const failed = 'UNKNOWN'
/** So long a fence goes by the permission that it has: as long as the heartbeat of an owner, which brings the news. ms. */
const permittedMs = 300

const inScope = replacedFor<TransactionRequests>(install)

export class TransactionRequests {
  readonly #limitMs: number
  /** Until when a refusal is answered by asking again, by the steady clock. */
  #endMs: number
  readonly #fence: FenceOptions
  readonly #doubts: Doubts
  readonly #nowMs: () => number
  /** When the fence was permitted last. */
  #permittedAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false
  #nodeId: string | number | undefined
  /** All partitions of the transaction at hand, which its first request adds. */
  #coming: Topic[] = []
  #adding: Promise<unknown> | undefined
  /** The same as `topic/partition`; none once that request was refused. */
  #added = new Set<string>()

  /**
   * `limitMs`: so long after its beginning a transaction, or the fence before the first, asks again; the coordinator aborts it then.
   * `doubts`: shared by all writers of the process. `nowMs`: of any clock that only goes forward.
   */
  constructor(limitMs: number, fence: FenceOptions = {}, doubts: Doubts = new Set(), nowMs = (): number => performance.now()) {
    this.#limitMs = limitMs
    this.#fence = fence
    this.#doubts = doubts
    this.#nowMs = nowMs
    this.#endMs = nowMs() + limitMs
  }

  /** Whatever of the writer's producer runs in it asks in our way. */
  run<Value>(work: () => Promise<Value>): Promise<Value> {
    return inScope(this, work)
  }

  /**
   * Nothing more is asked of a coordinator: what kafkajs still tries for a writer that was closed can add nothing to its transaction, and not
   * commit it.
   */
  close(): void {
    this.#isClosed = true
  }

  /** A transaction begins that writes to these partitions. */
  begin(places: ReadonlyMap<string, Iterable<number>>): void {
    this.#coming = [...places].map(([topic, partitions]) => ({ topic, partitions: [...partitions] }))
    this.#adding = undefined
    this.#endMs = this.#nowMs() + this.#limitMs
    this.#added = new Set(namesOf(this.#coming))
  }

  /** The coordinator, as kafkajs asks for it. */
  async find(cluster: Cluster, question: Question, usual: Cluster['findGroupCoordinator']): Promise<Coordinator> {
    this.#requireOpen()
    const broker = (): Promise<Coordinator> => this.#broker(cluster, question, usual)
    const { nodeId } = await broker()
    const patiently =
      <Request>(send: (broker: Coordinator, request: Request) => Promise<unknown>, isPassing = isNotNow) =>
      (request: Request): Promise<unknown> =>
        this.#patiently(async () => send(await broker(), request), isPassing)
    const fence = patiently(async (to, request: { transactionalId: string }) => {
      await this.#permitted()
      return to.initProducerId(request)
    })
    const end = patiently<End>((to, request) => to.endTxn(request))
    const endAgain = patiently<End>((to, request) => to.endTxn(request), isUndecided)
    const add = patiently<Adding>((to, request) => to.addPartitionsToTxn(request))
    return {
      nodeId,
      initProducerId: async (request) => {
        await this.#ready(cluster)
        await this.#endAgain(request.transactionalId, endAgain)
        return fence(request)
      },
      addPartitionsToTxn: (request) => this.#add(request, add),
      addOffsetsToTxn: patiently((to, request) => to.addOffsetsToTxn(request)),
      endTxn: (request) => this.#end(request, end),
    }
  }

  /** A commit is in doubt until it is answered by more than that it cannot be done just now: that is said as well of one that was logged. */
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
   * The commit that nobody has answered, before a fence would abort what may be committed in a part. It may be asked for as often as one likes:
   * the epoch names the transaction, as none has begun under it since, and it is refused once somebody has fenced.
   */
  async #endAgain(transactionalId: string, end: (request: End) => Promise<unknown>): Promise<void> {
    for (const doubt of [...this.#doubts].filter((each) => each.transactionalId === transactionalId))
      try {
        await this.#end(doubt, end)
      } catch (error) {
        const type = typeOf(error)
        // Who cannot do this now cannot fence either, and is asked for both again.
        if (isUndecided(type) && type !== failed) throw error
        this.#doubts.delete(doubt)
      }
  }

  /** Resolves once the fence may be sent. What is connected to by then nobody waits for while nobody may write. */
  async #ready(cluster: Cluster): Promise<void> {
    const { first } = this.#fence
    if (first !== undefined) await connectTo(cluster, first).catch(() => {})
    await this.#permitted()
  }

  /** Whoever is refused for long may own the partition no more by then: each repetition is permitted anew. */
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

  /** The first request of a transaction adds all that it writes to; whoever asks for a part of that meanwhile, or later, waits for that one. */
  #add(request: Adding, add: (request: Adding) => Promise<unknown>): Promise<unknown> {
    if (!namesOf(request.topics).every((name) => this.#added.has(name))) return add(request)
    this.#adding ??= add({ ...request, topics: this.#coming })
    // Refused for one of them, it names any other as well: each is asked for by itself then, and whoever asks hears the true reason.
    return this.#adding.catch((error) => {
      this.#added.clear()
      if (typeOf(error) === undefined) throw error
      return add(request)
    })
  }

  async #patiently(ask: () => Promise<unknown>, isPassing: (type: string | undefined) => boolean): Promise<unknown> {
    for (let waitMs = waitMsMin; ; waitMs = Math.min(waitMs * waitFactor, waitMsMax)) {
      try {
        return await ask()
      } catch (error) {
        const type = typeOf(error)
        if (type !== notYet) this.#nodeId = undefined
        // It has answered, and will do it in a moment, or another one will.
        if (type === undefined || !isPassing(type) || this.#nowMs() >= this.#endMs) throw error
      }
      await wait(waitMs)
      this.#requireOpen()
    }
  }

  /** kafkajs tries again after any error but one that says not to. */
  #requireOpen(): void {
    if (this.#isClosed) throw Object.assign(new Error('the writer was closed'), { retriable: false })
  }
}

/** What comes of it is found out by the first write. */
async function connectTo(cluster: Cluster, { topic, partition }: TopicPartition): Promise<void> {
  await cluster.addMultipleTargetTopics([topic])
  const [nodeId] = Object.keys(cluster.findLeaderForPartitions(topic, [partition]))
  if (nodeId !== undefined) await cluster.findBroker({ nodeId })
}

/** What a broker has answered; undefined where none has. */
const typeOf = (error: unknown): string | undefined => (error as { type?: string }).type

const isNotNow = (type = ''): boolean => type === notYet || movedTypes.has(type)

/** Nobody has answered, or nobody who knows whether the transaction has ended. */
const isUndecided = (type: string | undefined): boolean => type === undefined || type === failed || isNotNow(type)

const namesOf = (topics: readonly Topic[]): string[] =>
  topics.flatMap(({ topic, partitions }) => partitions.map((partition) => `${topic}/${partition}`))

function install(current: () => TransactionRequests | undefined): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/cluster/index.js') as { prototype: Cluster }
  const { findGroupCoordinator } = prototype
  prototype.findGroupCoordinator = function (this: Cluster, question: Question): Promise<Coordinator> {
    const requests = question.coordinatorType === ofTransactions ? current() : undefined
    return requests === undefined
      ? findGroupCoordinator.call(this, question)
      : requests.find(this, question, findGroupCoordinator)
  }
}
