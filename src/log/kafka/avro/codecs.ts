/** The codecs of all our records, with their schemas registered. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Type } from 'avsc'
import { type Records, recordSchemas, schemaTexts } from '../../../../schemas/index.ts'
import type { TopicPlan } from '../../../../streams/topics/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import type { Codec } from '../../../ground/ports/index.ts'
import { avroType, fingerprintOf, foreignType, sharingType, textOfType, typeOfText } from './avro-type.ts'
import { AvroCodec } from './codec.ts'
import { type KnownIds, Registry, type RegistryOptions } from './registry.ts'

export type { KnownIds } from './registry.ts'

export interface CodecsOptions extends RegistryOptions {
  /** The topics whose subjects `<topic>-value` get their schemas. Every schema must belong to at least one of them. */
  plans: TopicPlan[]
}

/** The schema of each codec. */
const schemaOfCodec = {
  definition: 'job-definition',
  command: 'job-command',
  state: 'job-state',
  execution: 'execution',
  event: 'execution-event',
  deadLetter: 'dead-letter',
  control: 'worker-control',
  audit: 'audit-event',
  endedRun: 'ended-run',
  runLog: 'run-log',
  operation: 'operation',
  pause: 'pause',
} as const satisfies Record<string, TopicPlan['schema']>
type CodecName = keyof typeof schemaOfCodec
type SchemaName = (typeof schemaOfCodec)[CodecName]
export const schemaNames: readonly SchemaName[] = Object.values(schemaOfCodec)

type CodecOf<Name extends SchemaName> = Codec<Records[Name]['read'], Records[Name]['written']>
export type Codecs = { [Name in CodecName]: CodecOf<(typeof schemaOfCodec)[Name]> }

/** What codecs of another thread are made of (codecsOfSeed). */
export interface CodecsSeed {
  /** The ids of our own schemas. */
  ids: Ids
  /** The schema of another id, as JSON; null if nothing can be read by it. Rejects as `decode` of a codec does. */
  schemaOf(id: number): Promise<string | null>
}

export const subjectOf = (topic: string): string => `${topic}-value`

/** Owners keep pending definitions in memory, so these share the bytes of their records. */
const typeOf = (name: SchemaName): Type =>
  name === 'job-definition' ? sharingType(recordSchemas[name]) : avroType(recordSchemas[name])

/**
 * Registers every schema at its subjects, backward compatible with all earlier versions, or at a subject of our own (ADR 0061).
 * Then checks the known ids. Rejects with DuelogError `registry-unavailable`, or `foreign-data` when the registry's schemas are
 * not those of our records.
 */
export async function createCodecs(options: CodecsOptions): Promise<Codecs> {
  const registry = new Registry(options)
  const types = allTypes()
  const ids = await registered(registry, types, options)
  return codecsOf(registry, types, ids)
}

/** No registry issues this id: codecs that only read write nothing. */
const noId = -1

/** Codecs that only read, for programs that look at a system: they register nothing. Rejects with DuelogError `registry-unavailable`. */
export async function createReadingCodecs(options: CodecsOptions): Promise<Codecs> {
  const registry = new Registry(options)
  const ids = {} as Ids
  for (const name of schemaNames) {
    const found = new Set<number>()
    for (const { topic, schema } of options.plans) {
      const id = schema === name ? await registry.idAt(subjectOf(topic), schemaTexts[name]) : undefined
      if (id !== undefined) found.add(id)
    }
    // Records of other schemas are read by their ids, as always.
    ids[name] = found.size === 0 ? [noId] : [...found]
  }
  return codecsOf(registry, allTypes(), ids)
}

export interface EarlyCodecsOptions extends CodecsOptions {
  knownIds: KnownIds
  /** Whether this registry has confirmed the known ids before. If not, the start waits for it. */
  isProven: boolean
  /** Whether another process of this folder registers and checks them: this one asks the registry only if ids are missing. Default false. */
  isChecked?: boolean
  /** Called when the registry has confirmed them. */
  onProven(): Promise<void>
  /** Called once the registry has answered, even if nothing waited for it. */
  onAnswered?: () => void
  /** Resolves when the registry accepts requests. Default: at once. */
  whenUp?: Promise<void>
  /** Called when the start has to wait for the registry. */
  onNeeded?: () => void
  /** Ends the retries. */
  signal: AbortSignal
  /** Called for each failed attempt to reach a registry that nothing waits for. */
  onAway(error: unknown): void
  /** Called when the registry's schemas are not those of our records. Everything that started early must end. */
  onForeign(error: Error): void
}

/**
 * Like createCodecs, but does not wait for the registry if the known ids cover all our schemas: the schema of an id never
 * changes. The registration and the check then follow as soon as the registry answers.
 */
export async function createCodecsEarly(options: EarlyCodecsOptions): Promise<Codecs & { seed: CodecsSeed }> {
  const { knownIds, whenUp, onNeeded, isProven, isChecked = false, onProven } = options
  const types = allTypes()
  const known = isProven ? knownAmong(types, await knownIds.read()) : undefined
  const registry = new Registry(options)
  if (known === undefined) {
    onNeeded?.()
    await whenUp
    const ids = await registered(registry, types, options)
    await onProven()
    options.onAnswered?.()
    return codecsOf(registry, types, ids)
  }
  await registry.trust()
  if (isChecked) return codecsOf(registry, types, known)
  // If our own registry cannot start, its supervisor ends the process.
  void Promise.resolve(whenUp).then(
    () => checkLater(registry, types, options),
    () => {},
  )
  return codecsOf(registry, types, known)
}

/** Backoff between requests to an unreachable registry. */
const askAgainMsMin = 1_000
const askAgainMsMax = 30_000

async function checkLater(registry: Registry, types: Types, options: EarlyCodecsOptions): Promise<void> {
  const { signal, onAway, onForeign } = options
  for (let waitMs = askAgainMsMin; !signal.aborted; waitMs = Math.min(2 * waitMs, askAgainMsMax)) {
    try {
      await registered(registry, types, options)
      return options.onAnswered?.()
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof DuelogError) || error.code !== 'registry-unavailable') return onForeign(error as Error)
      onAway(error)
    }
    await wait(waitMs, undefined, { signal, ref: false }).catch(() => {})
  }
}

/** Whether createCodecsEarly can skip the wait for the registry. */
export async function areSchemasKnown(knownIds: KnownIds): Promise<boolean> {
  return knownAmong(allTypes(), await knownIds.read()) !== undefined
}

type Types = Record<SchemaName, Type>
type Ids = Record<SchemaName, number[]>

const allTypes = (): Types => Object.fromEntries(schemaNames.map((name) => [name, typeOf(name)])) as Types

/** The ids of each of our schemas; undefined if a schema has none. */
function knownAmong(types: Types, known: Record<string, string>): Ids | undefined {
  const ids = {} as Ids
  for (const name of schemaNames) {
    const print = fingerprintOf(types[name])
    ids[name] = Object.keys(known)
      .filter((id) => known[id] === print)
      .map(Number)
      .sort((a, b) => a - b)
    if (ids[name].length === 0) return undefined
  }
  return ids
}

async function registered(registry: Registry, types: Types, { plans }: CodecsOptions): Promise<Ids> {
  const ids = {} as Ids
  // Sequentially: a registry at which many processes start at once has few database connections.
  for (const name of schemaNames) ids[name] = await registerAll(registry, name, plans)
  await registry.verify(new Map(schemaNames.flatMap((name) => ids[name].map((id) => [id, types[name]] as const))))
  return ids
}

/** For a simulated log, which has no registry: the schemas have the ids 1 to 9, and records of any other schema are undecodable. */
export function codecsWithoutRegistry(): Codecs & { seed: CodecsSeed } {
  const unknown = (id: number): Promise<Type> =>
    Promise.reject(new DuelogError('undecodable', `schema ${id} is none of Duelog, and there is no registry`))
  const ids = Object.fromEntries(schemaNames.map((name, at) => [name, [at + 1]])) as Ids
  return codecsOf({ writerOf: unknown }, allTypes(), ids)
}

/** The schemas of all records by name, for a file that has no registry. The id of each is its place, from 1. */
export const ownSchemas = (): Record<string, string> => Object.fromEntries(schemaNames.map((name) => [name, schemaTexts[name]]))

/** Codecs of a file with these schemas, from `ownSchemas` of any version. Values that they encode are for a file of this version. */
export function codecsOfSchemas(texts: Readonly<Record<string, string>>): Codecs {
  const types = new Map<number, Type>()
  const ids = Object.fromEntries(schemaNames.map((name) => [name, [noId]])) as Ids
  for (const [at, [name, text]] of Object.entries(texts).entries()) {
    if (schemaTexts[name as SchemaName] === text) ids[name as SchemaName] = [at + 1]
    else types.set(at + 1, foreignType([text]))
  }
  const writerOf = async (id: number): Promise<Type> => {
    const type = types.get(id)
    if (type === undefined) throw new DuelogError('undecodable', `schema ${id} is not in the file`)
    return type
  }
  return codecsOf({ writerOf }, allTypes(), ids)
}

/** Codecs of a thread, from the seed of those of its process. */
export const codecsOfSeed = ({ ids, schemaOf }: CodecsSeed): Codecs =>
  codecsOf({ writerOf: async (id) => typeOfText(id, await schemaOf(id)) }, allTypes(), ids)

function codecsOf(registry: Pick<Registry, 'writerOf'>, types: Types, ids: Ids): Codecs & { seed: CodecsSeed } {
  const codecs = Object.entries(schemaOfCodec).map(([codec, name]) => [
    codec,
    new AvroCodec(types[name], ids[name], (id) => registry.writerOf(id)),
  ])
  return { ...(Object.fromEntries(codecs) as Codecs), seed: { ids, schemaOf: (id) => textOfType(registry.writerOf(id)) } }
}

/**
 * All ids of the schema, usually one. The file is registered as shipped, with units, limits and docs. A lookup by its text then
 * finds it, registries keep unknown attributes, and readers of the registry see the documentation.
 */
async function registerAll(registry: Registry, name: SchemaName, plans: TopicPlan[]): Promise<number[]> {
  const ids = new Set<number>()
  for (const { topic, schema } of plans)
    if (schema === name) ids.add(await registry.register(subjectOf(topic), schemaTexts[name]))
  return [...ids]
}
