/** JSON bodies and lines: strict UTF-8, no ambiguous text, and no property names that change the prototype of an object. */
import { readJson } from '../../../streams/text/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { RequestError } from './problem.ts'

/** Fastify's own parser, which refuses __proto__ and constructor.prototype at any depth. */
export type JsonParser = (text: string, done: (error: Error | null, value?: unknown) => void) => void

export type JsonReader = (bytes: Buffer) => unknown

/** Undefined for an empty body: some clients send a media type without a body. A payload keeps its text. Throws `bad-request`. */
export function jsonReader(parse: JsonParser): JsonReader {
  const utf8 = new TextDecoder('utf-8', { fatal: true })
  const parsed = (text: string): unknown => {
    let value: unknown
    parse(text, (error, found) => {
      if (error !== null) throw new DuelogError('bad-request', `The JSON cannot be read: ${reasonOf(text)}.`, { cause: error })
      value = found
    })
    return value
  }
  return (bytes) => {
    if (bytes.length === 0) return undefined
    let text: string
    try {
      text = utf8.decode(bytes)
    } catch (error) {
      throw new DuelogError('bad-request', 'The JSON is not valid UTF-8.', { cause: error })
    }
    const { value, problems } = readJson(text, parsed, true)
    if (problems.length > 0) throw new RequestError('bad-request', problems)
    return value
  }
}

/** Fastify's error has no place; the error of the engine has it. */
function reasonOf(text: string): string {
  try {
    JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return 'it has a property __proto__ or constructor.prototype, which is not allowed at any depth'
}
