/** The part of kafkajs's cluster that transaction-requests.ts answers. */
export interface Topic {
  topic: string
  partitions: number[]
}
export interface Adding {
  transactionalId: string
  producerId: string
  producerEpoch: number
  topics: Topic[]
}
export interface End {
  transactionalId: string
  producerId: string
  producerEpoch: number
  /** True for a commit. */
  transactionResult: boolean
}
/** The requests that kafkajs sends to a transaction coordinator. */
export interface Coordinator {
  nodeId: string | number
  initProducerId(request: { transactionalId: string }): Promise<unknown>
  addPartitionsToTxn(request: Adding): Promise<unknown>
  addOffsetsToTxn(request: object): Promise<unknown>
  endTxn(request: End): Promise<unknown>
}
export interface Question {
  groupId: string
  coordinatorType?: number
}
export interface Cluster {
  addMultipleTargetTopics(topics: string[]): Promise<void>
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>
  findGroupCoordinator(question: Question): Promise<Coordinator>
  findBroker(of: { nodeId: string | number }): Promise<Coordinator>
}
