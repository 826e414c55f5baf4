/** A process on a Kafka cluster: connections, codecs, the time of the brokers, the shutdown. */
export {
  type AclChange,
  type AclPlan,
  type AclsWanted,
  type Cluster,
  type ClusterOptions,
  clusterOf,
  clusterOptionNames,
  plansOf,
  type SubjectStanding,
  signInsOf,
  type TopicChange,
  topicPrefixDefault,
  whenRegistryIsUp,
} from './cluster.ts'
export { clockOf, processClock, startClock, watchClock } from './process-clock.ts'
export { endParts, type Step } from './shutdown.ts'
