/** From a call of the API to the request of its route. Who sends it says how: address, token, time limit, errors. */
import type { Problem } from './answers.ts'
import { type Api, headerNames, routes } from './api.ts'

/** What a call of this name is given. */
export type Given<Name extends keyof Api> = NonNullable<Parameters<Api[Name]>[0]>

export interface ApiRequest {
  method: string
  /** With its query, from the root of the server. */
  path: string
  headers: Record<string, string>
  /** Of JSON the value. Undefined: none. */
  body: unknown
  signal: AbortSignal | undefined
  /** ms that the server may wait before it answers. */
  waitMs: number
  /** Whether its answer is read while it comes, and its body while it is sent. */
  isStream: boolean
}

type Fields = Record<string, string | number | boolean | undefined>

/** The API over a function that sends a request and resolves with the value of its answer, or with the stream of it. */
export function apiOver(ask: (request: ApiRequest) => Promise<unknown>): Api {
  const names = Object.keys(routes) as (keyof Api)[]
  const calls = names.map((name) => [name, async (given: object = {}) => ask(requestOf(name, given))])
  return Object.fromEntries(calls) as Api
}

/** The address of a call below that of the server, such as `/v1/jobs/a?wait=applied` for `putJob`. */
export const pathOf = <Name extends keyof Api>(name: Name, given: Partial<Given<Name>>): string => requestOf(name, given).path

function requestOf(name: keyof Api, given: object): ApiRequest {
  const { body, signal, ...fields } = given as Fields & { body?: unknown; signal?: AbortSignal }
  const [method, template, form] = routes[name] as readonly [string, string, 'stream'?]
  const headers: Record<string, string> = {}
  if (body !== undefined) headers['content-type'] = form === 'stream' ? 'application/x-ndjson' : 'application/json'
  const query = new URLSearchParams()
  let path: string = template
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const header = headerNames[field]
    if (path.includes(`{${field}}`)) path = path.replace(`{${field}}`, () => encodeURIComponent(value))
    else if (header === undefined) query.set(field, String(value))
    else headers[header] = String(value)
  }
  if (query.size > 0) path += `?${query}`
  return { method, path, headers, body, signal, waitMs: Number(fields.timeoutMs ?? 0), isStream: form === 'stream' }
}

/** The problem in the text of a refusal. Undefined: it is not from Duelog. */
export function problemIn(text: string): Problem | undefined {
  try {
    const found = JSON.parse(text) as Partial<Problem>
    return typeof found.code === 'string' && typeof found.detail === 'string' ? (found as Problem) : undefined
  } catch {
    return undefined
  }
}

/** The pages of a list, up to its end. `read` asks for the one at a cursor; undefined: the first one. */
export async function* pagesOf<Page extends { cursor: string | null }>(
  read: (cursor: string | undefined) => Promise<Page>,
): AsyncGenerator<Page> {
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    yield page
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
}
