/** Requests to the HTTP API, with the token of this session if any. Payloads that JavaScript cannot hold stay text. */
import { effect } from '@preact/signals'
import { readJson, writeJson } from '../../../streams/text/index.ts'
import type { FieldProblem } from '../../answers/index.ts'
import { forgetToken, token } from './session.ts'

/** A problem that the API answered with (RFC 9457). */
export class RequestProblem extends Error {
  readonly status: number
  readonly code: string
  /** Of a definition that was refused. */
  readonly problems: readonly FieldProblem[]
  constructor(status: number, code: string, detail: string, problems: readonly FieldProblem[] = []) {
    super(detail)
    this.status = status
    this.code = code
    this.problems = problems
  }
}

export interface RequestOptions {
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

export function headersOf(more: Record<string, string> = {}): Record<string, string> {
  return token.value === null ? more : { ...more, authorization: `Bearer ${token.value}` }
}

/** Last answers by path, so that an unchanged one is not sent again (304). Callers do not change them. */
const answers = new Map<string, { etag: string; value: unknown }>()
const answersKept = 30
/** Another token may see more or less. */
effect(() => {
  void token.value
  answers.clear()
})

/** Characters of all answers until now. */
export let charsRead = 0

/** Rejects with RequestProblem; its status is 0 when no answer came. */
export async function ask<Answer>(path: string, { method = 'GET', body, headers, signal }: RequestOptions = {}): Promise<Answer> {
  const known = method === 'GET' ? answers.get(path) : undefined
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: headersOf({
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(known === undefined ? {} : { 'if-none-match': known.etag }),
        ...headers,
      }),
      ...(body === undefined ? {} : { body: writeJson(body) }),
      ...(signal === undefined ? {} : { signal }),
      cache: 'no-store',
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new RequestProblem(0, 'unreachable', 'Duelog is not responding. It may be restarting; this page retries automatically.')
  }
  if (response.status === 304 && known !== undefined) return known.value as Answer
  const text = await response.text()
  charsRead += text.length
  if (!response.ok) throw problemOf(response, text)
  const value = text === '' ? undefined : readJson(text).value
  if (method === 'GET') keepAnswer(path, response.headers.get('etag'), value)
  return value as Answer
}

/** Only ETags of whole answers: that of a job is its version, and its runs may have changed. */
function keepAnswer(path: string, etag: string | null, value: unknown): void {
  answers.delete(path)
  if (etag === null || !etag.startsWith('W/')) return
  answers.set(path, { etag, value })
  const [oldest] = answers.keys()
  if (answers.size > answersKept && oldest !== undefined) answers.delete(oldest)
}

export function problemOf({ status, statusText }: Response, text: string): RequestProblem {
  if (status === 401) forgetToken()
  try {
    const { code, detail, problems } = JSON.parse(text) as { code?: string; detail?: string; problems?: FieldProblem[] }
    return new RequestProblem(status, code ?? 'unknown', detail ?? statusText, problems)
  } catch {
    return new RequestProblem(status, 'unknown', `Unexpected response: ${status} ${statusText}.`)
  }
}

/** A path of the API with percent-encoded ids. Empty values of the query are left out. */
export function path(parts: (string | number)[], query: Record<string, string | number | undefined> = {}): string {
  const given = Object.entries(query).filter(
    (entry): entry is [string, string | number] => entry[1] !== undefined && entry[1] !== '',
  )
  const tail = given.length === 0 ? '' : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`
  return `/v1/${parts.map((part) => encodeURIComponent(part)).join('/')}${tail}`
}
