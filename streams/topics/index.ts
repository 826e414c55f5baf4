/** The topics: names, settings, and the partition of a key. */
export { appendedAtHeader, appendedAtOf, markHeader, markKey, movedHeader, recordBytes, restoredHeader } from './log-records.ts'
export {
  agedEvery,
  type HasPriority,
  isPriorityNumber,
  priorityAllowed,
  priorityIn,
  priorityMax,
  priorityNumbers,
  priorityOf,
  rankMax,
  rankOf,
  shownPriority,
  wordOf,
} from './priorities.ts'
export {
  controlRetentionMs,
  executionsRetentionMs,
  hasTag,
  keyPartitionOf,
  partitionOf,
  priorities,
  type Retentions,
  retryTiers,
  type TopicNames,
  type TopicPlan,
  tombstoneRetentionMs,
  topicAllowance,
  topicNames,
  topicPlans,
  topicsOfPool,
} from './topics.ts'
