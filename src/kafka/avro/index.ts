/** Avro in the Confluent wire format, and the schema registry. */
export { areSchemasKnown, type Codecs, createCodecs, createCodecsEarly, type EarlyCodecsOptions } from './codecs.ts'
export type { KnownIds } from './registry.ts'
export { lookAtSubjects, repairSubjects, type SubjectStanding } from './schema-ownership.ts'
