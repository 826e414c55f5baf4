/**
 * Requests that kafkajs's connections offer and its producers, consumers and admins do not: requests to one broker, and the true
 * errors of brokers.
 */
import type { Kafka, KafkaMessage } from 'kafkajs'

interface OneBroker {
  findGroupCoordinator(request: { groupId: string; coordinatorType: number }): Promise<unknown>
}

export interface Cluster {
  connect(): Promise<void>
  refreshMetadata(): Promise<void>
  findControllerBroker(): Promise<OneBroker>
  findGroupCoordinator(request: { groupId: string }): Promise<{
    leaveGroup(request: { groupId: string; memberId: string }): Promise<unknown>
  }>
  disconnect(): Promise<void>
}

/** A cluster as kafkajs creates it for its own consumers. */
export function ownCluster(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === 'private:Kafka:createCluster')
  const create = (kafka as unknown as Record<symbol, (options: object) => Cluster>)[symbol as symbol]
  if (create === undefined) throw new Error('this kafkajs makes its connections in another way')
  return create.call(kafka, { allowAutoTopicCreation: false })
}

/** A cluster as kafkajs's consumers use it, for requests about single partitions. */
export interface PartitionCluster {
  connect(): Promise<void>
  addTargetTopic(topic: string): Promise<void>
  refreshMetadata(): Promise<void>
  refreshMetadataIfNecessary(): Promise<void>
  /** Partitions by the node id of their leader. */
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>
  findBroker(of: { nodeId: string }): Promise<{
    fetch(request: object): Promise<{ responses: { partitions: { messages: KafkaMessage[] }[] }[] }>
  }>
  /** Offset `-1`: the partition has no record of that time or a later one. */
  fetchTopicsOffset(
    wanted: { topic: string; partitions: { partition: number }[]; fromTimestamp: number }[],
  ): Promise<{ topic: string; partitions: { partition: number; offset: string }[] }[]>
  disconnect(): Promise<void>
}

export const partitionCluster = (kafka: Kafka): PartitionCluster => ownCluster(kafka) as unknown as PartitionCluster

/** The same cluster, for offsets of many topics. */
export interface ManyTopicsCluster {
  connect(): Promise<void>
  /** Of all topics, without a topic in the request. */
  metadata(request: { topics: string[] }): Promise<{ topicMetadata: { topic: string }[] }>
  addMultipleTargetTopics(topics: string[]): Promise<void>
  refreshMetadataIfNecessary(): Promise<void>
  findTopicPartitionMetadata(topic: string): { partitionId: number }[]
  fetchTopicsOffset(
    wanted: { topic: string; partitions: { partition: number }[]; fromBeginning: boolean }[],
  ): Promise<{ topic: string; partitions: { partition: number; offset: string }[] }[]>
  disconnect(): Promise<void>
}

export const manyTopicsCluster = (kafka: Kafka): ManyTopicsCluster => ownCluster(kafka) as unknown as ManyTopicsCluster

const coordinatorTypes = { group: 0, transaction: 1 } as const

/**
 * The thrown error. If it says only that no coordinator was found, the broker's own answer instead: kafkajs hides it, even if an
 * ACL is missing.
 */
export async function unveiled(
  kafka: Kafka,
  thrown: unknown,
  type: keyof typeof coordinatorTypes,
  groupId: string,
): Promise<unknown> {
  if (!isHidden(thrown)) return thrown
  const cluster = ownCluster(kafka)
  try {
    await cluster.connect()
    await cluster.refreshMetadata()
    const broker = await cluster.findControllerBroker()
    await broker.findGroupCoordinator({ groupId, coordinatorType: coordinatorTypes[type] })
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
