/** From the options of a connection to the SASL mechanism that kafkajs runs. */
import type { AuthenticationProviderArgs, Mechanism, SASLOptions } from 'kafkajs'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import { BearerTokens, type ClientCredentials, fetchOf, type IssuedToken, issuedToken } from './client-credentials.ts'

/** AWS MSK with IAM. Credentials are found as AWS programs find them: environment, files, role of the machine or the pod. */
export interface MskIam {
  mechanism: 'aws-msk-iam'
  /** Region of the cluster, such as eu-central-1. */
  region: string
}

export type Sasl = SASLOptions | ClientCredentials | MskIam

/** What the brokers see, for messages; undefined if it is not known here. */
export function signsInAs(sasl: Sasl): string | undefined {
  if ('tokenUrl' in sasl) return `the OAuth client ${sasl.clientId}`
  if ('region' in sasl) return 'the AWS identity of this process'
  return 'username' in sasl ? `User:${sasl.username}` : undefined
}

/** One source of tokens for all connections that are made with the result. */
export function mechanismOf(sasl: Sasl, logger: Pick<Logger, 'warn'>): SASLOptions | Mechanism {
  const ask = askerOf(sasl)
  if (ask === undefined) return sasl as SASLOptions
  const extensions = 'tokenUrl' in sasl ? (sasl.extensions ?? {}) : {}
  const tokens = new BearerTokens({
    ask,
    onLate: (error) =>
      logger.warn(
        { event: 'token-not-renewed', err: error },
        'The token for the brokers cannot be renewed. It is used on meanwhile.',
      ),
  })
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: (connection) => ({ authenticate: () => signIn(connection, tokens, extensions) }),
  }
}

function askerOf(sasl: Sasl): (() => Promise<IssuedToken>) | undefined {
  if ('region' in sasl && sasl.mechanism === 'aws-msk-iam') return () => mskToken(sasl.region)
  if (!('tokenUrl' in sasl)) return undefined
  const fetch = fetchOf(sasl)
  return () => issuedToken(sasl, fetch)
}

/** Separates the parts of a message (RFC 7628, section 3.1). */
const separator = '\u0001'
/** Characters of a broker's answer in a message. */
const refusalCharsMax = 300

/**
 * kafkajs has this mechanism too. But it takes the refusal of a token, which comes as a challenge, for a success, so that the next request
 * fails for a reason that says nothing.
 */
async function signIn(
  { host, port, saslAuthenticate }: AuthenticationProviderArgs,
  tokens: BearerTokens,
  extensions: Readonly<Record<string, string>>,
): Promise<void> {
  const send = async (text: string): Promise<string> =>
    (await saslAuthenticate({ request: sized(text), response: sizedText })) ?? ''
  let token: string
  try {
    token = await tokens.token()
  } catch (error) {
    // The broker expects a message now, and accepts no second handshake on this connection. It closes the connection for this one.
    await send(separator).catch(() => {})
    throw endsConnection(error as Error)
  }
  const more = Object.entries(extensions).map(([name, value]) => `${name}=${value}${separator}`)
  const first = `n,,${separator}auth=Bearer ${token}${separator}${more.join('')}${separator}`
  const refused = (words: string): DuelogError => {
    tokens.refused(token)
    return new DuelogError(
      'bad-config',
      `The broker ${host}:${port} refuses the token (${words.slice(0, refusalCharsMax)}). Check that it accepts issuer, audience and scope of the token, and that its clock is right.`,
    )
  }
  let challenge: string
  try {
    challenge = await send(first)
    // The broker names the reason only after this answer.
    if (challenge !== '') await send(separator)
  } catch (error) {
    if ((error as { type?: string }).type !== 'SASL_AUTHENTICATION_FAILED') throw error
    throw refused((error as Error).message)
  }
  if (challenge !== '') throw refused(challenge)
}

/** kafkajs takes a new connection after an error with this name, and keeps the error. */
const endsConnection = (error: Error): Error => Object.defineProperty(error, 'name', { value: 'KafkaJSConnectionError' })

/** Bytes after their number, as the messages of SASL have it. */
const sized = (text: string) => ({
  encode: async () => {
    const bytes = Buffer.from(text)
    const size = Buffer.alloc(4)
    size.writeInt32BE(bytes.length)
    return Buffer.concat([size, bytes])
  },
})

const sizedText = {
  decode: async (bytes: Buffer) => bytes,
  parse: (bytes: Buffer) => bytes.subarray(4).toString('utf8'),
}

const signer = 'aws-msk-iam-sasl-signer-js'
/** Less than kafkajs waits for a sign-in. The metadata services of AWS may not answer at all. */
const tokenMsMax = 8_000

interface Signer {
  generateAuthToken(options: { region: string }): Promise<{ token: string; expiryTime: number }>
}

/** A token by the signer of AWS, which is installed beside Duelog only where it is needed (ADR 0107). Rejects with DuelogError `bad-config` if the signer is not installed, else with `broker-unavailable`. */
export async function mskToken(region: string, from = signer): Promise<IssuedToken> {
  const { generateAuthToken } = await loaded(from)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no credentials within ${tokenMsMax / 1_000} s`)), tokenMsMax)
  try {
    const { token, expiryTime } = await Promise.race([generateAuthToken({ region }), late.promise])
    return { value: token, livesMs: expiryTime - Date.now() }
  } catch (cause) {
    throw new DuelogError(
      'broker-unavailable',
      `No token for AWS MSK in ${region}: ${messageOf(cause)}. Check that this process has AWS credentials, for example AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role.`,
      { cause },
    )
  } finally {
    clearTimeout(timer)
  }
}

async function loaded(from: string): Promise<Signer> {
  try {
    return (await import(from)) as Signer
  } catch (cause) {
    if ((cause as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new DuelogError(
      'bad-config',
      `KAFKA_SASL_MECHANISM aws-msk-iam needs the package ${from}. Install it beside Duelog: npm install ${from}`,
      {
        cause,
      },
    )
  }
}
