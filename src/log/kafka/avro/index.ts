/** Avro in the Confluent wire format, and the schema registry. */
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
  ownSchemas,
} from './codecs.ts'
export type { KnownIds } from './registry.ts'
export { repairSubjects, type SubjectStanding, subjectStandings } from './schema-ownership.ts'
export type { RegistryAuth } from './subjects.ts'
