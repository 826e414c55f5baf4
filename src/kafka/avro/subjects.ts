/** What stands at the subjects of a registry, by the requests that its client library has no name for. */
import { isDeepStrictEqual } from 'node:util'
import { answerText } from '../../network/index.ts'

export interface RegistryAddress {
  /** Base address of an API that is compatible with Confluent's, such as http://localhost:8081. */
  registryUrl: string
  auth?: { username: string; password: string }
}

/** One version of a subject. */
export interface SubjectVersion {
  version: number
  id: number
  /** As the registry gives it, JSON. */
  schema: string
}

/** What an id stands for. */
export interface SchemaTexts {
  /** AVRO, JSON or PROTOBUF. */
  format: string
  /** The last one is that of the id. */
  texts: string[]
}

interface StoredSchema {
  schema: string
  schemaType?: string
  references?: { subject: string; version: number }[]
}

/** Further ones are not looked up, so that a schema with more cannot be read. */
const referencesMax = 32

/** A subject with more versions is not looked through. */
const versionsMax = 1_000
const requestMsMax = 10_000
/** Bytes of one answer: a schema that could be read by has far fewer (foreign-schemas.ts). */
const answerBytesMax = 4 * 1024 * 1024

/** Rejects as fetch does, or with an error whose `status` is the registry's. */
export class Subjects {
  readonly #url: string
  readonly #auth: RegistryAddress['auth']

  constructor({ registryUrl, auth }: RegistryAddress) {
    this.#url = registryUrl.replace(/\/+$/, '')
    this.#auth = auth
  }

  /** The version that is this schema but for white space and the order of attributes; undefined: none, or the registry cannot tell. */
  async alike(subject: string, schema: string): Promise<SubjectVersion | undefined> {
    const answer = await this.#ask('POST', `${pathOf(subject)}?normalize=true`, { schema }, [404, 405, 422])
    return answer as SubjectVersion | undefined
  }

  /** All that stand there, oldest first; none where there is no such subject. */
  async versions(subject: string): Promise<SubjectVersion[]> {
    const numbers = ((await this.#ask('GET', `${pathOf(subject)}/versions`, undefined, [404])) ?? []) as number[]
    if (numbers.length > versionsMax) throw new Error(`${subject} has ${numbers.length} versions, more than ${versionsMax}`)
    const found: SubjectVersion[] = []
    for (const number of numbers.toSorted((a, b) => a - b))
      found.push((await this.#ask('GET', `${pathOf(subject)}/versions/${number}`)) as SubjectVersion)
    return found
  }

  /** What an id stands for, after all that it refers to; undefined: the registry knows none. Rejects with AnswerTooLong. */
  async textsOf(id: number): Promise<SchemaTexts | undefined> {
    const found = (await this.#ask('GET', `/schemas/ids/${id}`, undefined, [404])) as StoredSchema | undefined
    if (found === undefined) return undefined
    const texts: string[] = []
    const seen = new Set<string>()
    const add = async ({ schema, references = [] }: StoredSchema): Promise<void> => {
      if (typeof schema !== 'string') throw new Error(`the answer to ${id} has no schema`)
      for (const { subject, version } of references) {
        const place = `${pathOf(subject)}/versions/${version}`
        if (seen.has(place) || seen.size >= referencesMax) continue
        seen.add(place)
        await add((await this.#ask('GET', place)) as StoredSchema)
      }
      texts.push(schema)
    }
    await add(found)
    return { format: found.schemaType ?? 'AVRO', texts }
  }

  /** Takes a version out of its subject. Its id stays: records that name it are read as before. */
  async remove(subject: string, version: number): Promise<void> {
    await this.#ask('DELETE', `${pathOf(subject)}/versions/${version}`, undefined, [404])
  }

  async setLevel(subject: string, compatibility: string): Promise<void> {
    await this.#ask('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility })
  }

  /** Undefined for one of the statuses that mean no. */
  async #ask(method: string, path: string, body?: object, no: readonly number[] = []): Promise<unknown> {
    const auth = this.#auth && `Basic ${Buffer.from(`${this.#auth.username}:${this.#auth.password}`).toString('base64')}`
    const response = await fetch(`${this.#url}${path}`, {
      method,
      signal: AbortSignal.timeout(requestMsMax),
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json', ...(auth && { authorization: auth }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.ok) return JSON.parse(await answerText(response, answerBytesMax))
    // Its status says what happened, however much it has to say.
    const said = (await answerText(response, answerBytesMax).catch(() => '')).slice(0, 500)
    if (no.includes(response.status)) return undefined
    throw Object.assign(new Error(`status ${response.status}${said === '' ? '' : `, ${said}`}`), { status: response.status })
  }
}

const pathOf = (subject: string): string => `/subjects/${encodeURIComponent(subject)}`

/** Whether two texts are the same JSON. */
export function isSame(a: string, b: string): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(a), JSON.parse(b))
  } catch {
    return false
  }
}
