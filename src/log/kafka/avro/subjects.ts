/** The versions at the subjects of a registry, for requests that its client library does not offer, and what all requests carry. */
import { isDeepStrictEqual } from 'node:util'
import { withoutEnd } from '../../../../streams/text/index.ts'
import { answerText, type Certificates, type Fetch, fetchWith } from '../../../ground/network/index.ts'
import { type CertificateFiles, certificatesFrom, secretOfFile } from '../../../ground/process/index.ts'

/** User and password, a bearer token, or a file with a bearer token, which is read again for each request. */
export type RegistryAuth = { username: string; password: string } | { token: string } | { tokenFile: string }

export interface RegistryAddress {
  /** Base address of an API compatible with Confluent's, such as http://localhost:8081. */
  registryUrl: string
  auth?: RegistryAuth | undefined
  /** Certificates for an https address, or files of them, which are read again for each request. Absent: those of Node. */
  ssl?: Certificates | CertificateFiles | undefined
}

/** One version of a subject. */
export interface SubjectVersion {
  version: number
  id: number
  /** JSON as the registry returns it. */
  schema: string
}

/** The meaning of an id. */
export interface SchemaTexts {
  /** AVRO, JSON or PROTOBUF. */
  format: string
  /** The last one belongs to the id. */
  texts: string[]
}

interface StoredSchema {
  schema: string
  schemaType?: string
  references?: { subject: string; version: number }[]
}

/** Most references of a schema. A schema with more cannot be read. */
const referencesMax = 32

/** Most versions of a subject that are examined. */
const versionsMax = 1_000
/** An embedded registry that has to start first answers within 30 s. */
const requestMsMax = 35_000
/** Bytes of one answer. A usable schema has far fewer (avro-type.ts). */
const answerBytesMax = 4 * 1024 * 1024

/** Rejects like fetch, or with an error whose `status` is the registry's. */
export class Subjects {
  readonly #url: string
  readonly #auth: RegistryAddress['auth']
  readonly #fetch: Fetch

  constructor({ registryUrl, auth, ssl }: RegistryAddress) {
    this.#url = withoutEnd(registryUrl, '/')
    this.#auth = auth
    this.#fetch = fetchWith(certificatesFrom(ssl))
  }

  /**
   * The version that equals this schema except for white space and the order of attributes; undefined if there is none or the
   * registry cannot tell.
   */
  async alike(subject: string, schema: string): Promise<SubjectVersion | undefined> {
    const answer = await this.#ask('POST', `${pathOf(subject)}?normalize=true`, { schema }, [404, 405, 422])
    return answer as SubjectVersion | undefined
  }

  /** All versions, oldest first; empty if the subject does not exist. */
  async versions(subject: string): Promise<SubjectVersion[]> {
    const numbers = ((await this.#ask('GET', `${pathOf(subject)}/versions`, undefined, [404])) ?? []) as number[]
    if (numbers.length > versionsMax) throw new Error(`${subject} has ${numbers.length} versions, more than ${versionsMax}`)
    const found: SubjectVersion[] = []
    for (const number of numbers.toSorted((a, b) => a - b))
      found.push((await this.#ask('GET', `${pathOf(subject)}/versions/${number}`)) as SubjectVersion)
    return found
  }

  /**
   * The schema of an id, after all its references; undefined if the registry does not know the id. Rejects with AnswerTooLong.
   */
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

  /** Removes a version from its subject. Its id stays: records that name it remain readable. */
  async remove(subject: string, version: number): Promise<void> {
    await this.#ask('DELETE', `${pathOf(subject)}/versions/${version}`, undefined, [404])
  }

  async setLevel(subject: string, compatibility: string): Promise<void> {
    await this.#ask('PUT', `/config/${encodeURIComponent(subject)}`, { compatibility })
  }

  /** Undefined for one of the statuses that mean "not found". */
  async #ask(method: string, path: string, body?: object, no: readonly number[] = []): Promise<unknown> {
    const auth = authorizationOf(this.#auth)
    const response = await this.#fetch(`${this.#url}${path}`, {
      method,
      signal: AbortSignal.timeout(requestMsMax),
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json', ...(auth && { authorization: auth }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    if (response.ok) return JSON.parse(await answerText(response, answerBytesMax))
    // The status is enough, however long the body is.
    const text = await answerText(response, answerBytesMax).catch(() => '')
    const { status } = response
    if (no.includes(status)) return undefined
    const said = withoutCredentials(new Error(`status ${status}${text === '' ? '' : `, ${text}`}`), this.#auth) as Error
    throw Object.assign(new Error(said.message.slice(0, 512)), { status })
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

/** Throws if the file of the token cannot be read. */
export function authorizationOf(auth: RegistryAuth | undefined): string | undefined {
  if (auth === undefined) return undefined
  if ('username' in auth) return `Basic ${Buffer.from(`${auth.username}:${auth.password}`).toString('base64')}`
  return `Bearer ${'token' in auth ? auth.token : tokenOf(auth.tokenFile)}`
}

/** The error, or one that says the same without the credentials, should a registry or a proxy repeat them. */
export function withoutCredentials(thrown: unknown, auth: RegistryAuth | undefined): unknown {
  if (auth === undefined || !(thrown instanceof Error)) return thrown
  const words = [sentWord(auth), 'password' in auth ? auth.password : undefined].filter(
    (word) => word !== undefined && word !== '',
  )
  const message = words.reduce<string>((text, word) => text.replaceAll(word as string, '…'), thrown.message)
  return message === thrown.message
    ? thrown
    : Object.assign(new Error(message), { status: (thrown as { status?: number }).status })
}

/** Undefined if the file of the token cannot be read now. */
function sentWord(auth: RegistryAuth): string | undefined {
  try {
    return authorizationOf(auth)?.split(' ')[1]
  } catch {
    return undefined
  }
}

function tokenOf(file: string): string {
  const token = secretOfFile(file, { isReadAgain: true })
  if (!/^[\x21-\x7e]+$/.test(token)) throw new Error(`the file of its token, ${file}, does not hold a token`)
  return token
}

/** What to do about a request that failed. A server that answered runs: then the address is wrong, or what it says is. */
export function registryRemedy(thrown: unknown): string {
  const { status } = thrown as { status?: number }
  if (status === undefined) return 'Check that the registry runs and can be reached.'
  if (status === 404)
    return 'A server answered HTTP 404. Check the path of the address: that of Apicurio ends in /apis/ccompat/v7, and that of Confluent has none.'
  return `A server answered HTTP ${status}. Check that the address is that of the registry, and see its log.`
}
