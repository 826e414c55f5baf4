/**
 * Payloads in JSON. `payload` is any JSON value if the media type is JSON or absent, else text; `payloadBase64` is bytes. A JSON value
 * that JavaScript would write differently is kept as its text (JsonText).
 * Together with contentType they are converted to the definition's payload and contentType, and back.
 */
import { isUtf8 } from 'node:buffer'
import { contradiction, JsonText, jsonProblems, jsonType, notAllowed, type Problem, quoted, validText } from '../text/index.ts'
import { bytesOfBase64 } from './record-json.ts'

interface Payload {
  payload: Buffer | null
  contentType: string | null
}

/** application/json or a media type with the suffix +json, with or without parameters. */
export function isJsonType(contentType: string): boolean {
  return /^\s*application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(contentType)
}

/**
 * Payload and media type of a job in JSON. A null payload means no payload. `contentType` is as given, undefined when absent.
 * Text with a media type other than JSON is stored unchanged; everything else is written as JSON.
 */
export function readPayload(
  json: { payload?: unknown; payloadBase64?: unknown; contentType?: unknown },
  problems: Problem[],
): { payload: unknown; contentType: unknown } {
  const { payload = null, payloadBase64 = null, contentType = null } = json
  if (payload !== null && payloadBase64 !== null) {
    const limit = 'one of payload and payloadBase64'
    problems.push(contradiction('payloadBase64', undefined, limit, `payload and payloadBase64 are both set; allowed: ${limit}.`))
    return { payload: null, contentType }
  }
  if (payloadBase64 !== null) return { payload: bytesOf(payloadBase64, problems), contentType }
  if (payload === null) return { payload: null, contentType }
  if (typeof contentType === 'string' && !isJsonType(contentType)) {
    const text: unknown = payload instanceof JsonText ? JSON.parse(payload.text) : payload
    if (typeof text === 'string' && text.isWellFormed()) return { payload: Buffer.from(text), contentType }
    const limit = `text with the media type ${quoted(contentType)}; give payloadBase64 for bytes`
    problems.push(notAllowed('payload', payload, limit))
    return { payload: null, contentType }
  }
  return { payload: jsonBytes(payload, problems), contentType: contentType ?? jsonType }
}

function bytesOf(text: unknown, problems: Problem[]): Buffer | null {
  const bytes = bytesOfBase64(text)
  if (bytes !== undefined) return bytes
  problems.push(notAllowed('payloadBase64', text, 'base64 with padding'))
  return null
}

function jsonBytes(payload: unknown, problems: Problem[]): Buffer | null {
  if (payload instanceof JsonText) return Buffer.from(payload.text)
  const text = jsonOfValue(payload)
  if (typeof text === 'string') return Buffer.from(text)
  problems.push(notAllowed('payload', payload, text.limit))
  return null
}

/** A JavaScript value as JSON, or a problem. A value that JSON.stringify would silently write as another value is refused. */
export function jsonOfValue(value: unknown): string | { limit: string } {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // A cycle, a BigInt or a depth beyond the stack.
  }
  if (text === undefined) return { limit: 'a JSON value; a BigInt goes as text, or all as payloadBase64' }
  // JSON.stringify writes NaN and Infinity as null, and a lone surrogate as an escape that other languages refuse.
  if (text.includes('null') && hasLostNumber(value))
    return { limit: 'a JSON value; NaN and Infinity are none, wherever in it they stand' }
  if (text.includes('\\ud') && jsonProblems(text).length > 0) return { limit: validText }
  return text
}

function hasLostNumber(value: unknown): boolean {
  let lost = false
  JSON.stringify(value, (_name, inner: unknown) => {
    lost ||= typeof inner === 'number' && !Number.isFinite(inner)
    return inner
  })
  return lost
}

/** A definition's payload in the form that readPayload accepts, byte for byte. Other payloads, and bytes that are no text, become base64. */
export function writePayload({ payload, contentType }: Payload): { payload?: unknown; payloadBase64?: string } {
  if (payload === null) return {}
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  if (contentType !== null && isUtf8(bytes)) {
    const text = bytes.toString()
    if (!isJsonType(contentType)) return { payload: text }
    const value = valueOrText(text)
    if (value !== undefined && value !== null) return { payload: value }
  }
  return { payloadBase64: bytes.toString('base64') }
}

/** The value of a JSON text if JSON.stringify writes the same text, else the text; undefined if a request would be refused with it. */
export function valueOrText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    if (jsonProblems(text).length > 0 || value === null) return undefined
    return JSON.stringify(value) === text ? value : new JsonText(text)
  } catch {
    return undefined
  }
}
