/** The log on top of kafkajs, and the codecs on top of the schema registry. */
export type { AclChange, AclPlan, AclsWanted, TopicChange } from './admin/index.ts'
export {
  areSchemasKnown,
  type Codecs,
  type CodecsSeed,
  codecsOfSchemas,
  codecsOfSeed,
  codecsWithoutRegistry,
  createCodecs,
  createCodecsEarly,
  createReadingCodecs,
  type EarlyCodecsOptions,
  type KnownIds,
  ownSchemas,
  type RegistryAuth,
  repairSubjects,
  type SubjectStanding,
  subjectStandings,
} from './avro/index.ts'
export type { Logger, LogOptions } from './brokers/index.ts'
export { coPartitioned, RevokedPartitions, readUserData, userDataOf } from './group/index.ts'
export { connectLog, type KafkaLog } from './log.ts'
export type { Sasl } from './sasl/index.ts'
export type { CheckedTopics } from './writing/index.ts'
