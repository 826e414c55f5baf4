/**
 * Definitions and runs for callers with read access only. They must not see credentials, and neither a name nor a form shows reliably what is
 * a credential. So they see only those parts of headers, URLs and server responses that are known to be harmless (ADR 0060).
 */
import { JsonText } from '../../../../streams/text/index.ts'
import type { Role } from '../guards/index.ts'

/** Headers, in lower case, whose values describe a message or its trace, and never contain a credential. */
export const harmlessHeaders: ReadonlySet<string> = new Set([
  ...['accept', 'accept-charset', 'accept-encoding', 'accept-language', 'cache-control', 'date', 'user-agent'],
  ...[
    'content-type',
    'content-encoding',
    'content-language',
    'prefer',
    'traceparent',
    'tracestate',
    'x-correlation-id',
    'x-request-id',
  ],
  ...['ce-specversion', 'ce-id', 'ce-type', 'ce-time', 'ce-datacontenttype'],
  ...['ce_specversion', 'ce_id', 'ce_type', 'ce_time', 'ce_datacontenttype'],
])
export const mask = '***'

/** Texts that the caller may see, or masks in their place. */
export const hiddenUnless =
  (isShown: boolean) =>
  (value: unknown): unknown =>
    isShown || value === null ? value : mask

type Json = Record<string, unknown>
type Headers = Record<string, unknown>
interface Credentialed {
  headers?: Headers
  target?: { http?: { url: string; headers?: Headers } }
}

/** A definition or the input of an attempt, in JSON: with masks for the values of all other headers and for the part of a URL after its host. */
export function redacted(definition: Json): Json {
  const { headers, target } = definition as Credentialed
  const http = target?.http
  const shown = http && {
    ...http,
    url: redactedUrl(http.url),
    ...(http.headers !== undefined && { headers: redactedHeaders(http.headers) }),
  }
  return {
    ...definition,
    ...(headers !== undefined && { headers: redactedHeaders(headers) }),
    ...(shown !== undefined && { target: { ...target, http: shown } }),
  }
}

/** The JSON as a caller of this role may see it. */
export const shownTo = (role: Role | null, json: Json): Json => (role === 'viewer' ? redacted(json) : json)

const isHarmless = (name: string): boolean => harmlessHeaders.has(name.toLowerCase())

const redactedHeaders = (headers: Headers): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isHarmless(name) ? value : mask]))

/** Many webhooks have their credential in the path, so the path is masked like the query. */
function redactedUrl(url: string): string {
  if (!URL.canParse(url)) return mask
  const { protocol, host, pathname, search, hash } = new URL(url)
  const rest = pathname.length > 1 || search !== '' || hash !== '' ? mask : ''
  return `${protocol}//${host}/${rest}`
}

/** Paths of fields that hold a mask. Such a definition was read by a viewer, and would overwrite the hidden values. */
export function redactedPlaces(definition: Json): string[] {
  const { headers, target } = definition as Credentialed
  const http = target?.http
  const named = (at: string, of: Headers): string[] =>
    Object.entries(of).flatMap(([name, value]) => (value === mask ? [`${at}[${JSON.stringify(name)}]`] : []))
  return [
    ...named('headers', headers ?? {}),
    ...named('target.http.headers', http?.headers ?? {}),
    ...(http?.url.endsWith(`/${mask}`) ? ['target.http.url'] : []),
  ]
}

/** Shorter texts would mask half of every sentence. */
const hiddenCharsMin = 4

/** The texts that redacted() hides, in all forms in which a handler may repeat them, longest first. */
export function hiddenTexts(definition: Json): string[] {
  const { headers = {}, target } = definition as Credentialed
  const found = new Set<string>()
  const add = (text: string): void => {
    for (const form of [text, encodeURIComponent(text.toWellFormed()), JSON.stringify(text).slice(1, -1)])
      if (form.length >= hiddenCharsMin) found.add(form)
  }
  for (const [name, value] of [...Object.entries(headers), ...Object.entries(target?.http?.headers ?? {})]) {
    if (isHarmless(name) || typeof value !== 'string') continue
    add(value)
    // A scheme such as Bearer precedes the credential. Basic has name and password in base64.
    const [, scheme, credential] = /^(\S+) +(\S+)$/.exec(value) ?? []
    if (credential !== undefined) add(credential)
    if (credential !== undefined && scheme?.toLowerCase() === 'basic') {
      const pair = Buffer.from(credential, 'base64').toString()
      for (const part of [pair, pair.slice(pair.indexOf(':') + 1)]) add(part)
    }
  }
  const url = target?.http?.url ?? ''
  if (URL.canParse(url)) {
    const { pathname, search, searchParams } = new URL(url)
    for (const text of [`${pathname}${search}`, search, pathname, ...searchParams.values()]) if (text.length > 1) add(text)
  }
  return [...found].sort((left, right) => right.length - left.length)
}

/** A text with masks in place of each text of `hidden`; a mask alone if they are unknown. */
const withoutHidden =
  (hidden: readonly string[] | undefined) =>
  (text: string): string =>
    hidden === undefined ? mask : hidden.reduce((rest, secret) => rest.replaceAll(secret, mask), text)

/** A line of a run in JSON, with masks. `shortened`: its texts may end within a hidden one. */
export function redactedLine<Line extends { text: string; fields: Json | null; shortened: boolean }>(
  line: Line,
  hidden: readonly string[] | undefined,
): Line {
  const whole = withoutHidden(hidden)
  const shown = (text: string): string => (line.shortened ? withoutBeginning(whole(text), hidden ?? []) : whole(text))
  return { ...line, text: shown(line.text), fields: line.fields === null ? null : (mapTexts(line.fields, shown) as Json) }
}

/** The text without the beginning of a hidden one at its end, where it was cut. */
function withoutBeginning(text: string, hidden: readonly string[]): string {
  const end = text.replace(/…$/, '')
  for (const secret of hidden) {
    for (let length = Math.min(secret.length, end.length); length >= hiddenCharsMin; length--)
      if (end.endsWith(secret.slice(0, length))) return `${end.slice(0, -length)}${mask}`
  }
  return text
}

interface RunJson {
  message?: unknown
  result: unknown
  errors: readonly Json[]
}

/** The response of a server may repeat everything that was sent to it. Only its status is known to be harmless. */
const serverResponse = /^(the server answered \d{3}): [\s\S]*$/

/**
 * A run in JSON, without server responses, and with masks in place of each text of `hidden`. Undefined `hidden` means that the texts to hide
 * are unknown, because the definition cannot be read. Then all texts are masked.
 */
export function redactedRun<Run extends Json>(run: Run, hidden: readonly string[] | undefined): Run {
  const without = withoutHidden(hidden)
  const { message, result, errors } = run as unknown as RunJson
  return {
    ...run,
    ...(typeof message === 'string' && { message: without(message) }),
    result: hidden === undefined && result !== null ? mask : redactedResult(result, without),
    errors: errors.map((error) => ({
      ...error,
      type: without(String(error.type)),
      message: without(String(error.message).replace(serverResponse, `$1: ${mask}`)),
      ...('stack' in error && { stack: stackOf(error, hidden, without) }),
    })),
  }
}

/** A stack begins with the message, so that of a server response goes. */
function stackOf(
  { message, stack }: Json,
  hidden: readonly string[] | undefined,
  without: (text: string) => string,
): string | null {
  return typeof stack !== 'string' || hidden === undefined || serverResponse.test(String(message)) ? null : without(stack)
}

function redactedResult(result: unknown, without: (text: string) => string): unknown {
  const value: unknown = result instanceof JsonText ? JSON.parse(result.text) : result
  if (isAnswer(value)) return { ...value, body: mask }
  if (!(result instanceof JsonText)) return mapTexts(result, without)
  // Numbers beyond the precision of a JavaScript number stay as written, unless a text must be hidden.
  return without(result.text) === result.text ? result : mapTexts(value, without)
}

/** The result of an http target. */
function isAnswer(result: unknown): result is { status: number; body: string } {
  return typeof result === 'object' && result !== null && Object.keys(result).sort().join() === 'body,status'
}

function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change))
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [change(name), mapTexts(item, change)]))
}
