/** All patches and extensions of kafkajs. */
export { withBoundedFetches } from './bounded-fetches.ts'
export {
  type Cluster,
  type ManyTopicsCluster,
  manyTopicsCluster,
  ownCluster,
  type PartitionCluster,
  partitionCluster,
  unveiled,
} from './cluster-requests.ts'
export { relayTo } from './log-relay.ts'
export { withLostCoordinators } from './lost-coordinator.ts'
export { answeredOffset, uncommitted } from './offsets.ts'
export { installProduceRequests, MessageGroup } from './produce-requests.ts'
export { stopIdleQueueTimers } from './request-queue-timer.ts'
export { listenToThrottling } from './throttling.ts'
export { type Doubts, TransactionRequests } from './transaction-requests.ts'
