/** The topics: names, settings, and the partition of a key. */
export { topicAllowance } from './allowed-topics.ts'
export { markHeader, markKey } from './mark.ts'
export { recordBytes } from './record-size.ts'
export {
  executionsRetentionMs,
  keyPartitionOf,
  partitionOf,
  priorities,
  retryTiers,
  type TopicNames,
  type TopicPlan,
  tombstoneRetentionMs,
  topicNames,
  topicPlans,
} from './topics.ts'
