/** A process on a real Kafka cluster: connections, codecs, the time of the brokers, the stop. */
export {
  type Cluster,
  type ClusterOptions,
  clusterOf,
  clusterOptionNames,
  lazyWriter,
  plansOf,
  type SubjectStanding,
  TOPIC_PREFIX_DEFAULT,
  type TopicChange,
} from './cluster.ts'
export { clockOf, processClock, startClock, watchClock } from './process-clock.ts'
export { endParts, type Step } from './shutdown.ts'
