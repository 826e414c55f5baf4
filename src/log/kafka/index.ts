/** The log on top of the client of Kafka, and the codecs on top of the schema registry. */
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
export type { BoundedRead, Logger, LogOptions, Sasl } from './client/index.ts'
export { coPartitioned, RevokedPartitions, readUserData, userDataOf } from './group/index.ts'
export { connectLog, type KafkaLog } from './log.ts'
export type { AclChange, AclPlan, AclsWanted, CheckedTopics, TopicChange } from './topics/index.ts'
