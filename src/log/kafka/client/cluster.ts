/**
 * kafkajs's connections to a cluster: brokers by id, leaders, coordinators, metadata. kafkajs gives them to partition assigners,
 * which is how they are had here. What its types leave out of a broker is declared here and nowhere else; test/kafka
 * uses each of it.
 */
import type { Assigner, Cluster as DeclaredCluster, Kafka } from 'kafkajs'

export interface Broker {
  nodeId: string | number
  isConnected(): boolean
  disconnect(): Promise<void>
  /** Sends a request of our own. */
  connectionPool: {
    send<Answer>(request: {
      request: { apiKey: number; apiVersion: number; apiName: string; encode(): Promise<{ buf: Buffer; buffer: Buffer }> }
      response: { decode(bytes: Buffer): Promise<Answer>; parse(answer: Answer): Promise<Answer> }
    }): Promise<Answer>
  }
  findGroupCoordinator(request: {
    groupId: string
    coordinatorType: number
  }): Promise<{ coordinator: { nodeId: string | number } }>
  joinGroup(request: {
    groupId: string
    sessionTimeout: number
    rebalanceTimeout: number
    memberId: string
    groupProtocols: { name: string; metadata: Buffer }[]
  }): Promise<{
    generationId: number
    groupProtocol: string
    leaderId: string
    memberId: string
    members: { memberId: string; memberMetadata: Buffer }[]
  }>
  syncGroup(request: {
    groupId: string
    generationId: number
    memberId: string
    groupAssignment: { memberId: string; memberAssignment: Buffer }[]
  }): Promise<{ memberAssignment: Buffer }>
  heartbeat(request: { groupId: string; groupGenerationId: number; memberId: string }): Promise<unknown>
  leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>
  offsetCommit(request: {
    groupId: string
    groupGenerationId: number
    memberId: string
    topics: { topic: string; partitions: { partition: number; offset: string; metadata?: string | undefined }[] }[]
  }): Promise<unknown>
  offsetFetch(request: {
    groupId: string
    topics: { topic: string; partitions: { partition: number }[] }[]
  }): Promise<{ responses: { topic: string; partitions: { partition: number; offset: string }[] }[] }>
}

type Declared =
  | ('connect' | 'disconnect' | 'refreshMetadata' | 'refreshMetadataIfNecessary' | 'addMultipleTargetTopics')
  | ('findTopicPartitionMetadata' | 'findLeaderForPartitions' | 'fetchTopicsOffset')

export interface Cluster extends Pick<DeclaredCluster, Declared> {
  /** Of all topics, without a topic in the request. */
  metadata(request: { topics: string[] }): Promise<{ topicMetadata: { topic: string }[] }>
  findBroker(of: { nodeId: string | number }): Promise<Broker>
  brokerPool: { findConnectedBroker(): Promise<Broker>; metadata: unknown }
  findGroupCoordinator(of: { groupId: string }): Promise<Broker>
}

/** Whether offsets and records after an open transaction count. */
export type Isolation = 'committed' | 'uncommitted'

/** Connections that nobody else uses. Nothing is opened yet. */
export function clusterOf(kafka: Kafka, isolation: Isolation = 'uncommitted'): Cluster {
  let cluster: Cluster | undefined
  kafka.consumer({
    groupId: 'unused',
    allowAutoTopicCreation: false,
    readUncommitted: isolation === 'uncommitted',
    partitionAssigners: [
      (given) => {
        cluster = given.cluster as unknown as Cluster
        return {} as Assigner
      },
    ],
  })
  if (cluster === undefined) throw new Error('this kafkajs makes its connections in another way')
  return cluster
}

/** Connections that are opened at their first use, shared by parallel requests, and replaced after a failure of one. */
export class SharedCluster {
  readonly #kafka: Kafka
  readonly #isolation: Isolation
  #current: { opening: Promise<Cluster>; users: number; isLeft: boolean } | undefined

  constructor(kafka: Kafka, isolation: Isolation) {
    this.#kafka = kafka
    this.#isolation = isolation
  }

  /**
   * kafkajs would keep asking the leaders it knows until its metadata expires, even if they have moved. So metadata is read again after
   * an answer that refuses, and after any other failure there are new connections.
   */
  async use<Answer>(ask: (cluster: Cluster) => Promise<Answer>): Promise<Answer> {
    this.#current ??= { opening: opened(this.#kafka, this.#isolation), users: 0, isLeft: false }
    const mine = this.#current
    mine.users++
    try {
      return await ask(await mine.opening)
    } catch (thrown) {
      const isAnswer = typeof (thrown as { type?: unknown }).type === 'string'
      if (!(isAnswer && (await isRefreshed(mine.opening)))) {
        mine.isLeft = true
        if (this.#current === mine) this.#current = undefined
      }
      throw thrown
    } finally {
      mine.users--
      if (mine.isLeft && mine.users === 0) void closed(mine.opening)
    }
  }

  async close(): Promise<void> {
    const opening = this.#current?.opening
    this.#current = undefined
    await closed(opening)
  }
}

async function opened(kafka: Kafka, isolation: Isolation): Promise<Cluster> {
  const cluster = clusterOf(kafka, isolation)
  try {
    await cluster.connect()
    return cluster
  } catch (thrown) {
    await cluster.disconnect().catch(() => {})
    throw thrown
  }
}

const isRefreshed = (opening: Promise<Cluster>): Promise<boolean> =>
  opening
    .then((cluster) => cluster.refreshMetadata())
    .then(
      () => true,
      () => false,
    )

const closed = async (opening: Promise<Cluster> | undefined): Promise<void> =>
  opening?.then((cluster) => cluster.disconnect()).catch(() => {})

/** A broker that is connected, or can be. */
export const anyBroker = (cluster: Cluster): Promise<Broker> => cluster.brokerPool.findConnectedBroker()

export const coordinatorTypes = { group: 0, transaction: 1 } as const

/**
 * The thrown error. If it says only that no coordinator was found, the broker's own answer instead: kafkajs hides it, even if an
 * ACL is missing.
 */
export async function unveiled(kafka: Kafka, thrown: unknown, groupId: string): Promise<unknown> {
  if (!isHidden(thrown)) return thrown
  const cluster = clusterOf(kafka)
  try {
    await cluster.connect()
    const broker = await anyBroker(cluster)
    await broker.findGroupCoordinator({ groupId, coordinatorType: coordinatorTypes.group })
    return thrown
  } catch (refusal) {
    return (refusal as { type?: string }).type?.endsWith('_AUTHORIZATION_FAILED') ? refusal : thrown
  } finally {
    await cluster.disconnect().catch(() => {})
  }
}

/** Whether the error may hide another one. */
function isHidden(thrown: unknown): boolean {
  const { name, cause } = (thrown ?? {}) as { name?: string; cause?: unknown }
  return name === 'KafkaJSGroupCoordinatorNotFound' || (cause !== undefined && cause !== thrown && isHidden(cause))
}
