/** Topics, groups and offsets, as the brokers know them. */
export { type AclChange, type AclPlan, type AclsWanted, changeAcls, planAcls } from './acl-changes.ts'
export { KafkaAdmin } from './admin.ts'
export { removeDeparted } from './departed-members.ts'
export { PartitionCounts } from './partition-counts.ts'
export { retentionsOf } from './retentions.ts'
export { changeTopics, listTopics, makeTopics, planTopics, type TopicChange } from './topic-changes.ts'
export { ensureTopics, type TopicsWanted } from './topics.ts'
