/** Schema ids: registers our schemas, looks up others, and notices when an id has changed its meaning. */
import { COMPATIBILITY, type SchemaRegistry, SchemaType } from '@kafkajs/confluent-schema-registry'
import type { Type } from 'avsc'
import { DuelogError, type ErrorCode, messageOf } from '../../../ground/errors/index.ts'
import { AnswerTooLong, isUntrusted, reasonOf } from '../../../ground/network/index.ts'
import { retryWhile } from '../client/index.ts'
import { fingerprintOf, foreignType, UnusableSchema, usableType } from './avro-type.ts'
import { clientFrom } from './registry-client.ts'
import { isSame, type RegistryAddress, registryRemedy, type SchemaTexts, Subjects, withoutCredentials } from './subjects.ts'

export interface RegistryOptions extends RegistryAddress {
  /** Absent: ids are not checked. */
  knownIds?: KnownIds
  /** Called for each subject that refuses our schema because of a foreign version. */
  onRefused?: (sentence: string) => void
}

/**
 * Where the ids in use are stored, with the fingerprint of each schema. A registry that lost its storage issues its ids again.
 * Retained records would then be decoded with a wrong schema, and nobody would notice (ADR 0014).
 */
export interface KnownIds {
  read(): Promise<Record<string, string>>
  write(ids: Record<string, string>): Promise<void>
  /** The schema of an id that is not ours, as JSON; undefined if it was not stored. Absent: none are stored. */
  readSchema?(id: number): Promise<string | undefined>
  writeSchema?(id: number, schema: string): Promise<void>
}

/** Foreign schemas that one process keeps, such as those of the previous version, and characters of each. */
const keptSchemasMax = 100
const keptSchemaCharsMax = 200_000

/** Foreign ids that are remembered: each is looked up at every start, and any writer may name more. */
const rememberedMax = 500

/** Time before an id that the registry does not know is looked up again. */
const unknownForMs = 10_000
/** Unknown ids that are remembered. Beyond that, all are forgotten. */
const unknownMax = 1_000

export class Registry {
  readonly #clientNow: () => SchemaRegistry
  readonly #subjects: Subjects
  readonly #options: RegistryOptions
  readonly #unknown = new Map<number, number>()
  #known: Record<string, string> = {}
  readonly #kept = new Set<number>()
  #writing: Promise<void> = Promise.resolve()

  constructor(options: RegistryOptions) {
    this.#options = options
    this.#subjects = new Subjects(options)
    this.#clientNow = clientFrom(options)
  }

  /**
   * Id of the schema. It is registered at the subject unless it is already there. If the subject holds a foreign version with
   * which it is incompatible, it is registered at a subject of our own: the meaning of an id does not depend on where it was
   * registered.
   */
  async register(subject: string, schema: string): Promise<number> {
    try {
      return await this.#registered(subject, schema)
    } catch (thrown) {
      if (!isRefusal(thrown)) throw this.#fault(thrown, `Registering the schema of ${subject}`, registeringFaults)
      const own = ownSubjectOf(subject)
      try {
        const id = await this.#registered(own, schema)
        this.#options.onRefused?.(
          `Somebody registered a version at ${subject} that does not go with our schema, and the registry refuses ours there: ` +
            `${messageOf(thrown)}. Records are written with id ${id}, from ${own}, meanwhile. ${repairAdvice}`,
        )
        return id
      } catch (again) {
        throw this.#fault(
          again,
          `Registering the schema of ${subject}, which its registry refuses there, at ${own}`,
          registeringFaults,
        )
      }
    }
  }

  /** Id of the schema at the subject; undefined if it is not there. Nothing is registered. */
  async idAt(subject: string, schema: string): Promise<number | undefined> {
    try {
      const found = await retried(() => this.#subjects.alike(subject, schema))
      return found !== undefined && isSame(found.schema, schema) ? found.id : undefined
    } catch (thrown) {
      throw this.#fault(thrown, `Looking for the schema of ${subject}`, { 401: 'bad-config', 403: 'bad-config' })
    }
  }

  async #registered(subject: string, schema: string): Promise<number> {
    const text = await this.#textAt(subject, schema)
    const register = async (compatibility: COMPATIBILITY): Promise<number> =>
      (await this.#clientNow().register({ type: SchemaType.AVRO, schema: text }, { subject, compatibility })).id
    return retried(() => register(COMPATIBILITY.BACKWARD_TRANSITIVE)).catch(async (thrown) => {
      const level = /!= (\w+)\)/.exec(messageOf(thrown))?.[1]
      if (level === undefined) throw thrown
      // NONE means that the level of a subject was never set, for example because its first registration was interrupted. Any
      // other level is the operator's choice.
      if (level !== 'NONE') return register(level as COMPATIBILITY)
      await retried(() => this.#subjects.setLevel(subject, COMPATIBILITY.BACKWARD_TRANSITIVE))
      return retried(() => register(COMPATIBILITY.BACKWARD_TRANSITIVE))
    })
  }

  /** The schema as it is stored at the subject: to some registries, another text of the same schema is another version. */
  async #textAt(subject: string, schema: string): Promise<string> {
    const found = await retried(() => this.#subjects.alike(subject, schema))
    // A registry may treat two field orders as equal although their bytes differ.
    return found !== undefined && isSame(found.schema, schema) ? found.schema : schema
  }

  /**
   * The schema of an id. Rejects with `undecodable` when there is none, with `registry-unavailable` when the registry does
   * not answer, with `bad-config` when it refuses the sign-in, and with `foreign-data` when the schema is not one of Duelog.
   */
  async lookup(id: number): Promise<Type> {
    const since = this.#unknown.get(id)
    // Registries never issue such ids, and some answer them with "bad request".
    if (id < 0 || (since !== undefined && performance.now() - since < unknownForMs)) throw unknownId(id)
    let found: SchemaTexts | undefined
    try {
      found = await this.#subjects.textsOf(id)
    } catch (thrown) {
      // The next answer would be just as long.
      if (thrown instanceof AnswerTooLong) throw new UnusableSchema(id, thrown)
      throw this.#fault(thrown, `Looking up schema ${id}`, { 401: 'bad-config', 403: 'bad-config' })
    }
    if (found === undefined) {
      if (this.#unknown.size >= unknownMax) this.#unknown.clear()
      this.#unknown.set(id, performance.now())
      throw unknownId(id)
    }
    const type = usableType(id, found)
    this.#compare(id, type)
    if (Object.keys(this.#known).length < rememberedMax) await this.#remember([[id, type]])
    await this.#keep(id, type)
    return type
  }

  /**
   * Like `lookup`, for decoding. An id with a changed meaning counts as `registry-unavailable`, because the right registry would
   * decode it. While the registry is unreachable, a stored schema is used: the schema of an id never changes.
   */
  async writerOf(id: number): Promise<Type> {
    try {
      return await this.lookup(id)
    } catch (thrown) {
      const kept = thrown instanceof DuelogError && thrown.code === 'registry-unavailable' ? await this.#keptType(id) : undefined
      if (kept !== undefined) return kept
      if (thrown instanceof DuelogError && thrown.code !== 'undecodable' && thrown.code !== 'registry-unavailable')
        throw new DuelogError('registry-unavailable', thrown.message, { cause: thrown })
      throw thrown
    }
  }

  /** From now on, lookups are compared with the stored ids. */
  async trust(): Promise<void> {
    this.#known = { ...(await this.#options.knownIds?.read()) }
  }

  /**
   * Compares all stored ids with the registry's current answers. Rejects with `foreign-data` when an id has changed its meaning.
   */
  async verify(ours: ReadonlyMap<number, Type>): Promise<void> {
    if (!this.#options.knownIds) return
    await this.trust()
    for (const [id, type] of ours) this.#compare(id, type)
    const others = Object.keys(this.#known)
      .map(Number)
      .filter((id) => !ours.has(id))
    // The first ones wrote the most records.
    for (const id of others.splice(rememberedMax)) delete this.#known[id]
    for (const id of others)
      await this.lookup(id).catch((error: DuelogError) => {
        // A schema that can no longer be used still exists.
        if (error instanceof UnusableSchema) return
        throw error.code === 'undecodable' ? this.#lost(id, 'no schema') : error
      })
    await this.#remember([...ours])
  }

  #compare(id: number, type: Type): void {
    const before = this.#known[id]
    if (before !== undefined && before !== fingerprintOf(type)) throw this.#lost(id, `another schema, ${type.name}`)
  }

  #lost(id: number, now: string): DuelogError {
    return new DuelogError(
      'foreign-data',
      `Schema id ${id} now stands for ${now} in the registry ${this.#options.registryUrl}, so records written with it would be misread. ` +
        'Use the registry that the records were written with, or restore its storage.',
    )
  }

  async #remember(types: [number, Type][]): Promise<void> {
    const store = this.#options.knownIds
    const fresh = types.filter(([id]) => this.#known[id] === undefined)
    if (!store || fresh.length === 0) return
    for (const [id, type] of fresh) this.#known[id] = fingerprintOf(type)
    this.#writing = this.#writing.then(() => store.write({ ...this.#known }))
    await this.#writing
  }

  async #keep(id: number, type: Type): Promise<void> {
    const { knownIds } = this.#options
    if (knownIds?.writeSchema === undefined || this.#kept.has(id) || this.#kept.size >= keptSchemasMax) return
    const text = JSON.stringify(type.schema({ exportAttrs: true }))
    if (text.length > keptSchemaCharsMax) return
    this.#kept.add(id)
    await knownIds.writeSchema(id, text)
  }

  /** Only a schema with exactly the meaning of the known ids. */
  async #keptType(id: number): Promise<Type | undefined> {
    const text = this.#known[id] === undefined ? undefined : await this.#options.knownIds?.readSchema?.(id)
    if (text === undefined) return undefined
    try {
      const type = foreignType([text])
      return fingerprintOf(type) === this.#known[id] ? type : undefined
    } catch {
      return undefined
    }
  }

  #fault(found: unknown, doing: string, codes: Partial<Record<number, ErrorCode>>): DuelogError {
    if (found instanceof DuelogError) return found
    const thrown = withoutCredentials(found, this.#options.auth)
    const status = (thrown as { status?: number }).status ?? 0
    const code = codes[status] ?? 'registry-unavailable'
    const advice = {
      'foreign-data': `A version that does not go with our schema is registered there. ${repairAdvice}`,
      'bad-config':
        'Check SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD, SCHEMA_REGISTRY_TOKEN or SCHEMA_REGISTRY_CERT_FILE, or registryAuth and registrySsl of the library.',
    }[code as string]
    const remedy = isUntrusted(thrown)
      ? 'Set SCHEMA_REGISTRY_CA_FILE, or registrySsl of the library, to the authority that signed its certificate.'
      : registryRemedy(thrown)
    return new DuelogError(code, `${doing} at ${this.#options.registryUrl} failed: ${reasonOf(thrown)}. ${advice ?? remedy}`, {
      cause: thrown,
    })
  }
}

/** Where our schema is registered while its own subject refuses it. Nobody else writes there. */
export const ownSubjectOf = (subject: string): string => `${subject}.own`

const registeringFaults = { 409: 'foreign-data', 422: 'foreign-data', 401: 'bad-config', 403: 'bad-config' } as const
const repairAdvice = '`duelog schemas list` shows what stands there, and `duelog schemas repair` puts it right.'

/** Whether the subject holds a version with which our schema is incompatible. */
const isRefusal = (thrown: unknown): boolean => (thrown as { status?: number }).status === 409 && !isPassing(thrown)

const unknownId = (id: number): DuelogError =>
  new DuelogError('undecodable', `The registry knows no schema with id ${id}. Write records with a registered schema.`)

/** Backoff between tries of a registration that the registry could not perform: 0.2 s, doubled up to about 6 s. */
const registerWaitsMs = [200, 400, 800, 1_600, 3_200, 6_400]

/**
 * Retries while the registry answers that it is busy or broken, or that another process was faster, which Apicurio calls a
 * conflict. Registering twice has the same effect as registering once.
 */
const retried = <Value>(request: () => Promise<Value>): Promise<Value> => retryWhile(isPassing, registerWaitsMs, request)

/** Whether the same registration may succeed a moment later. */
function isPassing(thrown: unknown): boolean {
  const status = Number((thrown as { status?: number }).status)
  return status >= 500 || (status === 409 && /already exists|^status 409$/i.test(messageOf(thrown)))
}
