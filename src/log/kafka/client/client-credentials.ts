/**
 * Bearer tokens. A token is held, renewed before it ends, and asked for once however many connections need it. A token endpoint of an
 * identity provider issues it: OAuth 2.0 client credentials (RFC 6749, section 4.4).
 */
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { answerText, type Fetch, fetchWith, isUntrusted, reasonOf } from '../../../ground/network/index.ts'
import { secretOfFile } from '../../../ground/process/index.ts'

export interface IssuedToken {
  value: string
  /** Time until it ends. */
  livesMs: number
}

export interface BearerTokensOptions {
  ask: () => Promise<IssuedToken>
  /** Called when a token could not be renewed and the one at hand is used on. */
  onLate: (error: unknown) => void
  /** Steady time in ms. Default: that of this process. */
  nowMs?: () => number
}

/**
 * kafkajs signs in again 10 s before a session ends, and brokers refuse more than one sign-in a second. So a token that a connection gets
 * must live longer than that.
 */
export const tokenMsMin = 15_000
/** A token is renewed when it has lived for this part of its life. */
const renewedAfter = 0.8
/** A failed request is not repeated within this time, so that many connections do not flood the provider. */
const failedForMs = 1_000

export class BearerTokens {
  readonly #options: BearerTokensOptions
  #held: { value: string; renewAtMs: number; usableUntilMs: number } | undefined
  #asking: Promise<string> | undefined
  #failure: { error: unknown; untilMs: number } | undefined

  constructor(options: BearerTokensOptions) {
    this.#options = options
  }

  /** Rejects with the error of `ask`. */
  async token(): Promise<string> {
    const held = this.#held
    if (held !== undefined && this.#now() < held.renewAtMs) return held.value
    try {
      if (this.#failure !== undefined && this.#now() < this.#failure.untilMs) throw this.#failure.error
      this.#asking ??= this.#renewed().finally(() => {
        this.#asking = undefined
      })
      return await this.#asking
    } catch (error) {
      if (held === undefined || held !== this.#held || this.#now() >= held.usableUntilMs) throw error
      return held.value
    }
  }

  /** A broker refused this token: the next sign-in gets another one. */
  refused(value: string): void {
    if (this.#held?.value === value) this.#held = undefined
  }

  async #renewed(): Promise<string> {
    const askedAtMs = this.#now()
    try {
      const { value, livesMs } = await this.#options.ask()
      const usableMs = livesMs - tokenMsMin
      // A token that lives too short for a second sign-in is asked for each time.
      this.#held = {
        value,
        renewAtMs: askedAtMs + Math.min(renewedAfter * livesMs, Math.max(0, usableMs)),
        usableUntilMs: askedAtMs + usableMs,
      }
      this.#failure = undefined
      return value
    } catch (error) {
      this.#failure = { error, untilMs: this.#now() + failedForMs }
      if (this.#held !== undefined && this.#now() < this.#held.usableUntilMs) this.#options.onLate(error)
      throw error
    }
  }

  #now(): number {
    return this.#options.nowMs?.() ?? performance.now()
  }
}

export interface ClientCredentials {
  mechanism: 'oauthbearer'
  /** Token endpoint of the identity provider. */
  tokenUrl: string
  clientId: string
  /** The secret of the client, or the file that holds it, which is read again for each token. */
  clientSecret?: string | undefined
  clientSecretFile?: string | undefined
  scope?: string | undefined
  /** More parameters of the request, such as `audience` or `resource`. */
  parameters?: Readonly<Record<string, string>> | undefined
  /** SASL extensions that go to the brokers with the token, such as `logicalCluster` and `identityPoolId`. */
  extensions?: Readonly<Record<string, string>> | undefined
  /** PEM text: authorities of the token endpoint. Default: those of Node. */
  ca?: string | undefined
}

/** Less than kafkajs waits for a sign-in. */
const requestMsMax = 8_000
const answerBytesMax = 262_144
const tokenCharsMax = 65_536
/** Characters of the provider's own words in a message. */
const wordsMax = 300

/** Rejects with DuelogError `bad-config` if the provider refuses, else with `broker-unavailable`. */
export async function issuedToken(credentials: ClientCredentials, fetch: Fetch): Promise<IssuedToken> {
  const { tokenUrl, clientId, scope, parameters } = credentials
  const secret = secretOf(credentials)
  const body = new URLSearchParams({ grant_type: 'client_credentials', ...(scope !== undefined && { scope }), ...parameters })
  let status: number
  let text: string
  try {
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${basicOf(clientId, secret)}`,
      },
      body: body.toString(),
      signal: AbortSignal.timeout(requestMsMax),
      // The secret goes only to the address that it was given for.
      redirect: 'error',
    })
    status = response.status
    text = await answerText(response, answerBytesMax)
  } catch (error) {
    throw unreached(tokenUrl, error)
  }
  return tokenIn(credentials, status, text)
}

export const fetchOf = ({ ca }: ClientCredentials): Fetch => fetchWith(ca === undefined ? undefined : { ca })

function secretOf({ clientSecret, clientSecretFile }: ClientCredentials): string {
  if (clientSecretFile === undefined) return clientSecret ?? ''
  try {
    return secretOfFile(clientSecretFile, { isReadAgain: true })
  } catch (cause) {
    throw new DuelogError(
      'bad-config',
      `The client secret for the brokers cannot be read (${messageOf(cause)}). Check KAFKA_SASL_OAUTHBEARER_CLIENT_SECRET_FILE.`,
      { cause },
    )
  }
}

/** RFC 6749 demands this of both parts. A space is %20, which every server reads, also one that does not take + for it. */
const encoded = encodeURIComponent

const basicOf = (clientId: string, secret: string): string =>
  Buffer.from(`${encoded(clientId)}:${encoded(secret)}`).toString('base64')

function tokenIn(credentials: ClientCredentials, status: number, text: string): IssuedToken {
  const { tokenUrl, clientId } = credentials
  const answer = objectIn(text)
  const { access_token: value, token_type: type = 'Bearer', expires_in: seconds, error, error_description: words } = answer ?? {}
  if (status !== 200) {
    const said = [error, words].filter((part) => typeof part === 'string').map((part) => plain(part as string, credentials))
    const problem = `The token endpoint ${tokenUrl} answered ${status}${said.length === 0 ? '' : ` (${said.join(': ')})`} to the client ${clientId}.`
    if (status >= 500 || status === 408 || status === 429)
      throw new DuelogError('broker-unavailable', `${problem} It is asked again.`)
    throw new DuelogError('bad-config', `${problem} ${checkSettings}`)
  }
  if (
    typeof value !== 'string' ||
    !/^[\x21-\x7e]+$/.test(value) ||
    value.length > tokenCharsMax ||
    !/^bearer$/i.test(String(type))
  )
    throw new DuelogError('bad-config', `The token endpoint ${tokenUrl} answered without a bearer token. ${checkSettings}`)
  const livesMs = lifeOf(seconds, value)
  if (livesMs === undefined || livesMs < tokenMsMin)
    throw new DuelogError(
      'bad-config',
      `The token endpoint ${tokenUrl} issues tokens that ${livesMs === undefined ? 'do not say when they end' : `live for ${Math.floor(livesMs / 1_000)} s`}; at least ${tokenMsMin / 1_000} s are needed, because connections sign in again 10 s before a token ends. Let it issue tokens that live longer.`,
    )
  return { value, livesMs }
}

const checkSettings =
  'Check KAFKA_SASL_OAUTHBEARER_TOKEN_URL, …_CLIENT_ID, …_CLIENT_SECRET, …_SCOPE and …_PARAMETERS, or `sasl` of the library.'

/** Without control characters, and without the secret, should the provider repeat it or the header that it was in. */
function plain(text: string, credentials: ClientCredentials): string {
  const secret = secretOf(credentials)
  const forms = secret === '' ? [] : [basicOf(credentials.clientId, secret), encoded(secret), secret]
  const safe = forms.reduce((left, form) => left.replaceAll(form, '…'), text)
  return safe.replace(/[^\x20-\x7e\u00a0-\uffff]/g, ' ').slice(0, wordsMax)
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}

/** By `expires_in`, or else by the claims of a JSON Web Token. */
function lifeOf(seconds: unknown, token: string): number | undefined {
  // Some providers write the number as text.
  const given = typeof seconds === 'string' ? Number(seconds) : seconds
  if (typeof given === 'number' && given > 0 && Number.isFinite(given)) return given * 1_000
  const { exp, iat } = objectIn(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) ?? {}
  if (typeof exp !== 'number') return undefined
  return (exp - (typeof iat === 'number' ? iat : Date.now() / 1_000)) * 1_000
}

function unreached(tokenUrl: string, error: unknown): DuelogError {
  const remedy = isUntrusted(error)
    ? 'Set KAFKA_SASL_OAUTHBEARER_CA_FILE, or `ca` of `sasl`, to the authority that signed its certificate.'
    : 'Check that it runs and can be reached; it is asked again.'
  return new DuelogError(
    'broker-unavailable',
    `No token for the brokers: ${tokenUrl} cannot be asked (${reasonOf(error, requestMsMax)}). ${remedy}`,
    {
      cause: error,
    },
  )
}
