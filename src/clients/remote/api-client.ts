/** HTTP client of a running Duelog. Payloads and results that JavaScript cannot hold stay text. Each failure is a DuelogError with the code of the answered problem. */
import type { Readable } from 'node:stream'
import { readJson, writeJson } from '../../../streams/text/index.ts'
import { type Api, type ApiRequest, apiOver, problemIn } from '../../ground/answers/index.ts'
import { DuelogError, type ErrorCode, errorTable, messageOf } from '../../ground/errors/index.ts'
import { type Fetch, fetchWith, isLate, isUntrusted, reasonOf } from '../../ground/network/index.ts'

/** Longer than the server waits for an owner. */
const requestTimeoutMs = 30_000

export interface Address {
  /** Without a trailing slash. */
  url: string
  token: string | undefined
  /** PEM text: authorities of the server. Default: those of Node. */
  ca?: string | undefined
  /** Sends the requests. Default: over the network. Its own errors are DuelogErrors. */
  fetch?: Fetch | undefined
  /** Where the user gave the address, for messages: `--url or DUELOG_URL`. */
  givenBy: string
}

/** Sends the calls of the API to one address, and makes a DuelogError of each failure. */
export class ApiClient {
  readonly address: Address
  /** Aborts requests in flight. */
  readonly signal: AbortSignal
  readonly calls: Api = apiOver((request) => this.ask(request))
  /** Partitions that a standby answered for, and how many records it was behind. */
  readonly stale = new Map<string, number>()
  readonly #fetch: Fetch

  constructor(address: Address, signal: AbortSignal = new AbortController().signal) {
    this.address = address
    this.signal = signal
    this.#fetch = address.fetch ?? fetchWith(address.ca === undefined ? undefined : { ca: address.ca })
  }

  /** The value of the answer, undefined without a body. Rejects with the answered DuelogError, or with `unreachable`. */
  async ask({ method, path, headers, body, signal, waitMs, isStream }: ApiRequest): Promise<unknown> {
    const { url, token } = this.address
    const limitMs = requestTimeoutMs + waitMs
    // Outside of the attempt to connect: what JSON cannot hold is the caller's error.
    const sent = body === undefined || isStream ? (body as Readable | undefined) : jsonOf(body)
    const aborts = signal === undefined ? [this.signal] : [this.signal, signal]
    let response: Response
    let text: string
    try {
      response = await this.#fetch(`${url}${path}`, {
        method,
        headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
        ...(sent !== undefined && { body: sent }),
        signal: AbortSignal.any(isStream ? aborts : [...aborts, AbortSignal.timeout(limitMs)]),
        // A token is sent only to the address that it was given for.
        redirect: 'error',
      })
      this.#noteStale(response.headers.get('duelog-stale') ?? '')
      if (isStream && response.ok) return response.body
      text = await response.text()
    } catch (error) {
      for (const each of aborts) each.throwIfAborted()
      if (error instanceof DuelogError) throw error
      throw unreachable(this.address, error, limitMs)
    }
    if (response.status >= 400) throw problemOf(this.address, response.status, text)
    return text === '' ? undefined : parsed(this.address, text)
  }

  #noteStale(header: string): void {
    for (const [, partition = '', behind] of header.matchAll(/(\d{1,9});behind=(\d{1,16}|unknown)/g)) {
      const records = behind === 'unknown' ? Number.POSITIVE_INFINITY : Number(behind)
      this.stale.set(partition, Math.max(records, this.stale.get(partition) ?? 0))
    }
  }
}

function jsonOf(body: unknown): string {
  try {
    return writeJson(body)
  } catch (cause) {
    throw new DuelogError('bad-request', `The request cannot be written as JSON: ${messageOf(cause)}.`, { cause })
  }
}

export function unreachable({ url, givenBy }: Address, cause: unknown, timeoutMs = requestTimeoutMs): DuelogError {
  const reason = reasonOf(cause, timeoutMs)
  if (isLate(cause))
    return new DuelogError(
      'unreachable',
      `Duelog at ${url} gave ${reason}. Whether it did what was asked is not known: look before you repeat it.`,
      { cause },
    )
  return new DuelogError(
    'unreachable',
    isUntrusted(cause)
      ? `Duelog at ${url} has a certificate of an unknown authority (${reason}). Give its file with --ca or DUELOG_CA_FILE, or its text as the option ca of createClient.`
      : `Cannot reach Duelog at ${url} (${reason}). Start it with "duelog up", or set its address with ${givenBy}.`,
    { cause },
  )
}

/** The error for an answer with status 400 or above, also when the answer is not from Duelog. */
function problemOf(address: Address, status: number, text: string): DuelogError {
  const problem = problemIn(text)
  if (problem !== undefined) return new DuelogError(knownCode(problem.code), problem.detail)
  const code: ErrorCode = status === 401 ? 'unauthorized' : status === 503 ? 'not-ready' : 'internal'
  return new DuelogError(
    code,
    `${address.url} answered ${status} without a reason. It may not be Duelog; check ${address.givenBy}.`,
  )
}

/** A newer server may use codes that this version does not know: they become `internal`. */
export const knownCode = (code: string | undefined): ErrorCode =>
  code !== undefined && Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'internal'

function parsed(address: Address, text: string): unknown {
  try {
    return readJson(text).value
  } catch (cause) {
    throw new DuelogError(
      'internal',
      `${address.url} did not answer with JSON. It may not be Duelog; check ${address.givenBy}.`,
      { cause },
    )
  }
}
