/** What the requests to a registry carry: its address, the credentials, the certificates. */
import type { Certificates } from '../../network/index.ts'
import { type CertificateFiles, secretOfFile } from '../../process/index.ts'

/** User and password, a bearer token, or a file with a bearer token, which is read again for each request. */
export type RegistryAuth = { username: string; password: string } | { token: string } | { tokenFile: string }

export interface RegistryAddress {
  /** Base address of an API compatible with Confluent's, such as http://localhost:8081. */
  registryUrl: string
  auth?: RegistryAuth | undefined
  /** Certificates for an https address, or files of them, which are read again for each request. Absent: those of Node. */
  ssl?: Certificates | CertificateFiles | undefined
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
