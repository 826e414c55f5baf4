/** JSON bodies and lines: strict UTF-8, and none of the names that change what an object is. */
import { DuelogError } from '../errors.ts'

/** Fastify's own parser, which refuses __proto__ and constructor.prototype at any depth. */
export type JsonParser = (text: string, done: (error: Error | null, value?: unknown) => void) => void

export type JsonReader = (bytes: Buffer) => unknown

/** Undefined for no bytes at all: some clients name a media type without a body. Throws `bad-request`. */
export function jsonReader(parse: JsonParser): JsonReader {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  return (bytes) => {
    if (bytes.length === 0) return undefined
    let text: string
    try {
      text = utf8.decode(bytes)
    } catch (error) {
      throw new DuelogError('bad-request', 'The JSON is not valid UTF-8.', { cause: error })
    }
    let value: unknown
    parse(text, (error, parsed) => {
      if (error !== null) throw new DuelogError('bad-request', `The JSON cannot be read: ${reasonOf(text)}.`, { cause: error })
      value = parsed
    })
    return value
  }
}

/** Fastify's error says little of where; the engine's own tells the place. */
function reasonOf(text: string): string {
  try {
    JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'it has a property __proto__ or constructor.prototype, which is not taken at any depth'
}
