/** HTTP client of a running Duelog. Payloads and results that JavaScript cannot hold stay text. Each failure is a DuelogError with the code of the answered problem. */
import { readJson, writeJson } from '../../streams/text/index.ts'
import { DuelogError, type ErrorCode, errorTable, messageOf } from '../errors/index.ts'
import { type Fetch, fetchWith, isLate, isUntrusted, reasonOf } from '../network/index.ts'

/** Longer than the server waits for an owner. */
const requestTimeoutMs = 30_000

export interface Address {
  /** Without a trailing slash. */
  url: string
  token: string | undefined
  /** PEM text: authorities of the server. Default: those of Node. */
  ca?: string | undefined
  /** Where the user gave the address, for messages: `--url or DUELOG_URL`. */
  givenBy: string
}

export interface Request {
  query?: Record<string, string | number | boolean | undefined>
  body?: unknown
  headers?: Record<string, string>
  /** How long the server may wait before it answers, in addition to the usual time limit. Default: 0. */
  waitMs?: number
}

/** A path of the API with percent-encoded parts: path`/v1/jobs/${id}`. */
export function path(texts: TemplateStringsArray, ...parts: (string | number)[]): string {
  return String.raw({ raw: texts }, ...parts.map((part) => encodeURIComponent(part)))
}

export class ApiClient {
  readonly address: Address
  readonly #signal: AbortSignal
  readonly #fetch: Fetch
  /** Partitions that a standby answered for, and how many records it was behind. */
  readonly stale = new Map<string, number>()

  /** `signal` aborts requests in flight. */
  constructor(address: Address, signal: AbortSignal) {
    this.address = address
    this.#signal = signal
    this.#fetch = fetchWith(address.ca === undefined ? undefined : { ca: address.ca })
  }

  get signal(): AbortSignal {
    return this.#signal
  }

  get<Answer>(route: string, query: Request['query'] = {}): Promise<Answer> {
    return this.ask('GET', route, { query })
  }

  post<Answer>(route: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.ask('POST', route, { body, headers })
  }

  /** Undefined for an answer without a body. Rejects with the answered DuelogError, or with `unreachable`. */
  async ask<Answer>(
    method: string,
    route: string,
    { query = {}, body, headers = {}, waitMs = 0 }: Request = {},
  ): Promise<Answer> {
    const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    )
    const search = given.length === 0 ? '' : `?${new URLSearchParams(given)}`
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' }
    // Outside of the attempt to connect: what JSON cannot hold is the caller's error.
    const sent = body === undefined ? undefined : jsonOf(body)
    let status: number
    let text: string
    try {
      const response = await this.#fetch(`${this.address.url}${route}${search}`, {
        method,
        headers: { ...headersOf(this.address), ...type, ...headers },
        ...(sent !== undefined && { body: sent }),
        signal: AbortSignal.any([this.#signal, AbortSignal.timeout(requestTimeoutMs + waitMs)]),
        // A token is sent only to the address that it was given for.
        redirect: 'error',
      })
      status = response.status
      text = await response.text()
      this.#noteStale(response.headers.get('duelog-stale') ?? '')
    } catch (error) {
      this.#signal.throwIfAborted()
      throw unreachable(this.address, error, requestTimeoutMs + waitMs)
    }
    if (status >= 400) throw problemOf(this.address, status, text)
    return (text === '' ? undefined : parsed(this.address, text)) as Answer
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

export function headersOf({ token }: Address): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
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
export function problemOf(address: Address, status: number, text: string): DuelogError {
  const problem = asProblem(text)
  if (problem !== undefined) return new DuelogError(problem.code, problem.detail)
  const code: ErrorCode = status === 401 ? 'unauthorized' : status === 503 ? 'not-ready' : 'internal'
  return new DuelogError(
    code,
    `${address.url} answered ${status} without a reason. It may not be Duelog; check ${address.givenBy}.`,
  )
}

function asProblem(text: string): { code: ErrorCode; detail: string } | undefined {
  try {
    const { code, detail } = JSON.parse(text) as { code?: unknown; detail?: unknown }
    if (typeof code !== 'string' || typeof detail !== 'string') return undefined
    return { code: knownCode(code), detail }
  } catch {
    return undefined
  }
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

/** The pages of a list, up to its end. `read` asks for one page; `query` has its limit. */
export async function* pages<Item>(
  read: <Answer>(query: Request['query']) => Promise<Answer>,
  query: Request['query'],
  field: string,
): AsyncGenerator<Item[]> {
  let cursor: string | undefined
  do {
    const page: Record<string, unknown> = await read({ ...query, cursor })
    yield page[field] as Item[]
    cursor = (page.cursor as string | null) ?? undefined
  } while (cursor !== undefined)
}

/** Largest page of the API. */
const pageMax = 1_000

/** Passes at most `limit` items of the field to `take`; resolves with whether there are more. `goOn` is called after each page. */
export async function pagesOf<Item>(
  api: ApiClient,
  route: string,
  query: Request['query'],
  field: string,
  limit: number,
  take: (item: Item) => void,
  goOn: (page: Record<string, unknown>) => Promise<boolean> = async () => true,
): Promise<boolean> {
  let left = limit
  let cursor: string | undefined
  do {
    const page = await api.get<Record<string, unknown>>(route, { ...query, limit: Math.min(left, pageMax), cursor })
    const items = page[field] as Item[]
    for (const item of items.slice(0, left)) take(item)
    cursor = (page.cursor as string | null) ?? undefined
    if (items.length > left) return true
    left -= items.length
    if (!(await goOn(page))) return false
  } while (cursor !== undefined && left > 0)
  return cursor !== undefined
}
