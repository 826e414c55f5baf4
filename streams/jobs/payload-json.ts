/**
 * Payloads in JSON. `payload` is any JSON value when the media type is JSON or not given, else text; `payloadBase64` is bytes.
 * Together with contentType they become the definition's payload and contentType, and back.
 */
import { isUtf8 } from 'node:buffer'
import { contradiction, notAllowed, type Problem, quoted } from './problem.ts'
import { bytesOfBase64 } from './record-json.ts'

export const jsonType = 'application/json'

interface Payload {
  payload: Buffer | null
  contentType: string | null
}

/** JSON's own media type, or one built on it, with or without parameters. */
export function isJsonType(contentType: string): boolean {
  return /^\s*application\/(?:[\w.+-]*\+)?json\s*(?:;|$)/i.test(contentType)
}

/**
 * Payload and media type of a job in JSON. A payload of null is none. `contentType` as given, undefined when absent.
 * Text with a media type other than JSON is taken as it is; everything else is written as JSON.
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
    if (typeof payload === 'string') return { payload: Buffer.from(payload), contentType }
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
  let text: string | undefined
  try {
    text = JSON.stringify(payload)
  } catch {
    // A cycle, a BigInt or a depth beyond the stack; not reachable from parsed JSON of a usual depth.
  }
  if (text !== undefined) return Buffer.from(text)
  problems.push(notAllowed('payload', payload, 'a JSON value'))
  return null
}

/** A definition's payload as readPayload takes it. JSON whose numbers would change, and bytes that are not text, are given as base64. */
export function writePayload({ payload, contentType }: Payload): { payload?: unknown; payloadBase64?: string } {
  if (payload === null) return {}
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength)
  if (contentType !== null && isUtf8(bytes)) {
    const text = bytes.toString()
    if (!isJsonType(contentType)) return { payload: text }
    const parsed = exactJson(text)
    if (parsed !== undefined && parsed !== null) return { payload: parsed }
  }
  return { payloadBase64: bytes.toString('base64') }
}

/** The value of a JSON text, or undefined when it is broken or has a number that JavaScript cannot hold. */
function exactJson(text: string): unknown {
  let exact = true
  const reviver = (_key: string, value: unknown): unknown => {
    if (typeof value === 'number' && (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))))
      exact = false
    return value
  }
  try {
    const value: unknown = JSON.parse(text)
    // The reviver walks the whole value, so it runs only where a number is long enough to lose digits.
    if (/\d{16}|\d[eE]/.test(text)) JSON.parse(text, reviver)
    return exact ? value : undefined
  } catch {
    return undefined
  }
}
