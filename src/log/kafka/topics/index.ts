/** Topics as Duelog needs them: planned, created, checked, and those that jobs write to; the ACLs of its principals. */
export { type AclChange, type AclPlan, type AclsWanted, changeAcls, planAcls } from './acl-changes.ts'
export { CheckedTopics, type TargetTopicsOptions } from './target-topics.ts'
export { changeTopics, ensureTopics, listTopics, makeTopics, planTopics, type TopicChange, type TopicsWanted } from './topics.ts'
