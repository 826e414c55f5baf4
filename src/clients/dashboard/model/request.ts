/** The session of the user, and requests to the HTTP API with its token. Payloads that JavaScript cannot hold stay text. */
import { computed, effect, signal } from '@preact/signals'
import { readJson, writeJson } from '../../../../streams/text/index.ts'
import { type Api, type ApiRequest, apiOver, type FieldProblem, problemIn, type Session } from '../../../ground/answers/index.ts'

type Role = Session['role']

const storageKey = 'duelog.token'
/** Other tabs answer within some milliseconds, or not at all. */
const otherTabsMs = 200

export const token = signal<string | null>(sessionStorage.getItem(storageKey))
effect(() => {
  if (token.value === null) sessionStorage.removeItem(storageKey)
  else sessionStorage.setItem(storageKey, token.value)
})

/** Undefined until the API has answered; null when it requires a token. */
export const session = signal<Session | null | undefined>(undefined)

type Message = { kind: 'ask' } | { kind: 'token'; token: string } | { kind: 'sign-out' }

const tabs = new BroadcastChannel('duelog.session')
const tell = (message: Message): void => tabs.postMessage(message)
/** A token that the API has refused comes from no other tab again. */
const refused = new Set<string>()
let heard: (() => void) | undefined

tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.kind === 'ask' && token.value !== null && session.value) tell({ kind: 'token', token: token.value })
  if (data.kind === 'sign-out') token.value = null
  if (data.kind === 'token' && token.value === null && !session.value && !refused.has(data.token)) token.value = data.token
  if (data.kind === 'token') heard?.()
})

export function signIn(given: string, as: Session): void {
  wasRefused.value = false
  session.value = as
  token.value = given
  tell({ kind: 'token', token: given })
}

export function signOut(): void {
  wasRefused.value = false
  token.value = null
  tell({ kind: 'sign-out' })
}

/** Whether the session ended because the API accepts its token no longer. */
export const wasRefused = signal(false)

/** The API has refused the present token. */
function forgetToken(): void {
  if (token.value !== null) {
    refused.add(token.value)
    wasRefused.value = true
  }
  token.value = null
}

/** Asks the other tabs. Resolves when one has answered, or none will. The token is in `token` then. */
export function askOtherTabs(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  heard = resolve
  tell({ kind: 'ask' })
  setTimeout(resolve, otherTabsMs)
  return promise
}

const rank: Record<Role, number> = { viewer: 1, operator: 2, admin: 3 }
const may = (needed: Role) => computed(() => rank[session.value?.role ?? 'viewer'] >= rank[needed])

/** Whether to offer actions that change something. The API checks the role itself. */
export const mayOperate = may('operator')

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

/** What a call was rejected with. Its status is 0 when no answer came. */
export const problemFrom = (error: unknown): RequestProblem =>
  error instanceof RequestProblem ? error : new RequestProblem(0, 'internal', String(error))

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

/** The API with a token. Calls reject with RequestProblem; its status is 0 when no answer came. */
export const apiWith = (bearer: () => string | null): Api => apiOver((request) => ask(request, bearer()))

/** The API with the token of this session. */
export const api = apiWith(() => token.value)

async function ask({ method, path, headers, body, signal, isStream }: ApiRequest, bearer: string | null): Promise<unknown> {
  const known = method === 'GET' ? answers.get(path) : undefined
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers: {
        accept: isStream ? 'text/event-stream' : 'application/json',
        ...(known && { 'if-none-match': known.etag }),
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...headers,
      },
      ...(body !== undefined && { body: writeJson(body) }),
      ...(signal && { signal }),
      cache: 'no-store',
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new RequestProblem(0, 'unreachable', 'Duelog is not responding. It may be restarting; this page retries automatically.')
  }
  if (response.status === 304 && known !== undefined) return known.value
  if (isStream && response.ok) return response.body
  const text = await response.text()
  charsRead += text.length
  if (!response.ok) throw problemOf(response, text)
  const value = text === '' ? undefined : readJson(text).value
  if (method === 'GET') keepAnswer(path, response.headers.get('etag'), value)
  return value
}

/** Only ETags of whole answers: that of a job is its version, and its runs may have changed. */
function keepAnswer(path: string, etag: string | null, value: unknown): void {
  answers.delete(path)
  if (etag === null || !etag.startsWith('W/')) return
  answers.set(path, { etag, value })
  const [oldest] = answers.keys()
  if (answers.size > answersKept && oldest !== undefined) answers.delete(oldest)
}

function problemOf({ status, statusText }: Response, text: string): RequestProblem {
  if (status === 401) forgetToken()
  const problem = problemIn(text)
  if (problem === undefined) return new RequestProblem(status, 'unknown', `Unexpected response: ${status} ${statusText}.`)
  return new RequestProblem(status, problem.code, problem.detail, problem.problems)
}
