/** The codecs of all our records, with their schemas registered. */
import type { Type } from 'avsc'
import {
  type AuditEvent,
  type AuditEventInput,
  auditEventSchema,
  type DeadLetter,
  type DeadLetterInput,
  deadLetterSchema,
  type Execution,
  type ExecutionEvent,
  type ExecutionEventInput,
  type ExecutionInput,
  executionEventSchema,
  executionSchema,
  type JobCommand,
  type JobCommandInput,
  type JobDefinition,
  type JobDefinitionInput,
  jobCommandSchema,
  jobDefinitionSchema,
  jobStateSchema,
  type StateEntry,
  type StateEntryInput,
  type WorkerControl,
  type WorkerControlInput,
  workerControlSchema,
} from '../../schemas/generated.ts'
import type { TopicPlan } from '../../streams/topics.ts'
import type { Codec } from '../ports.ts'
import { alikeType } from './alike.ts'
import { avroType } from './avro.ts'
import { AvroCodec } from './codec.ts'
import { Registry, type RegistryOptions } from './registry.ts'

export type { KnownIds } from './registry.ts'

export interface CodecsOptions extends RegistryOptions {
  /** The topics whose subjects `<topic>-value` get their schemas. Every schema must be that of at least one. */
  plans: TopicPlan[]
}

export interface Codecs {
  definition: Codec<JobDefinition, JobDefinitionInput>
  command: Codec<JobCommand, JobCommandInput>
  state: Codec<StateEntry, StateEntryInput>
  execution: Codec<Execution, ExecutionInput>
  event: Codec<ExecutionEvent, ExecutionEventInput>
  deadLetter: Codec<DeadLetter, DeadLetterInput>
  control: Codec<WorkerControl, WorkerControlInput>
  audit: Codec<AuditEvent, AuditEventInput>
}

/** Registered with their units, limits and docs: registries keep unknown attributes, and readers of the registry profit. */
const schemas: Record<TopicPlan['schema'], unknown> = {
  'job-definition': jobDefinitionSchema,
  'job-command': jobCommandSchema,
  'job-state': jobStateSchema,
  execution: executionSchema,
  'execution-event': executionEventSchema,
  'dead-letter': deadLetterSchema,
  'worker-control': workerControlSchema,
  'audit-event': auditEventSchema,
}
type SchemaName = TopicPlan['schema']
const schemaNames = Object.keys(schemas) as SchemaName[]

/** Where those of a flood no longer differ. Owners decode as many definitions as are written, and keep what waits in memory. */
const definitionsAlikeFrom = { JobDefinition: 'contentType', Schedule: 'everyMs', Target: 'handler', Retry: 'maxAttempts' }

const typeOf = (name: SchemaName): Type =>
  name === 'job-definition' ? alikeType(schemas[name], definitionsAlikeFrom) : avroType(schemas[name])

/**
 * Registers every schema at its subjects, compatible backwards with all earlier versions, and checks the known ids.
 * Rejects with DuelogError `registry-unavailable`, or `foreign-data` when the registry's schemas are not those of our records.
 */
export async function createCodecs(options: CodecsOptions): Promise<Codecs> {
  const registry = new Registry(options)
  const types = Object.fromEntries(schemaNames.map((name) => [name, typeOf(name)])) as Record<SchemaName, Type>
  const ids = {} as Record<SchemaName, number[]>
  // One after another: a registry that many processes start against at once has few connections to its database.
  for (const name of schemaNames) ids[name] = await registerAll(registry, name, options.plans)
  await registry.verify(new Map(schemaNames.flatMap((name) => ids[name].map((id) => [id, types[name]] as const))))

  const codec = <Value, Input>(name: SchemaName): Codec<Value, Input> =>
    new AvroCodec<Value, Input>(types[name], ids[name], (id) => registry.writerOf(id))
  return {
    definition: codec('job-definition'),
    command: codec('job-command'),
    state: codec('job-state'),
    execution: codec('execution'),
    event: codec('execution-event'),
    deadLetter: codec('dead-letter'),
    control: codec('worker-control'),
    audit: codec('audit-event'),
  }
}

/** All ids of the schema, mostly one. */
async function registerAll(registry: Registry, name: SchemaName, plans: TopicPlan[]): Promise<number[]> {
  const ids = new Set<number>()
  for (const { topic, schema } of plans) if (schema === name) ids.add(await registry.register(`${topic}-value`, schemas[name]))
  return [...ids]
}
