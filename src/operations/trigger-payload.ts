/** The payload of a TRIGGER of many jobs, as the media type of each job takes it. */
import { isJsonType } from '../../streams/definitions/index.ts'

export class TriggerPayload {
  readonly #bytes: Buffer
  readonly #isJson: boolean
  /** The text that JSON of a text stands for. */
  #text: Buffer | undefined

  constructor(bytes: Buffer, isJson: boolean) {
    this.#bytes = bytes
    this.#isJson = isJson
    if (!isJson) return
    const value = jsonIn(bytes)
    if (typeof value === 'string' && value.isWellFormed()) this.#text = Buffer.from(value)
  }

  /** As a command to this one job would carry it. Undefined: its media type takes text, and this is none. */
  of(contentType: string | null): Buffer | undefined {
    return !this.#isJson || contentType === null || isJsonType(contentType) ? this.#bytes : this.#text
  }
}

/** Undefined for what is no JSON: any client may write to the topic of the operations. */
function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}
