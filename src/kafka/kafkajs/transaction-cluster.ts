/** What kafkajs asks its cluster about transactions, as far as transaction-requests.ts answers it. */
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
  /** Whether it is a commit. */
  transactionResult: boolean
}
/** What kafkajs asks a coordinator of transactions. */
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
