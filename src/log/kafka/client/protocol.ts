/** Requests of our own, over kafkajs's connections: their bytes, those of their answers, and the errors that brokers name in them. */
import type { Broker } from './cluster.ts'

export interface OwnRequest<Answer> {
  key: number
  version: number
  name: string
  body: Buffer
  /** Also gives the time for which the broker throttles the connection, which kafkajs observes. */
  decode(answer: AnswerBytes): Promise<Answer & { clientSideThrottleTime: number }>
}

export async function sendOwn<Answer>(broker: Broker, { key, version, name, body, decode }: OwnRequest<Answer>): Promise<Answer> {
  try {
    return await broker.connectionPool.send<Answer>({
      request: {
        ...{ apiKey: key, apiVersion: version, apiName: name },
        encode: async () => ({ buf: body, buffer: body }),
      },
      response: { decode: (bytes) => decode(new AnswerBytes(bytes)), parse: async (answer) => answer },
    })
  } catch (error) {
    // As kafkajs does it with its own requests: the next one opens a new connection.
    if ((error as Error).name === 'KafkaJSConnectionClosedError') await broker.disconnect()
    throw error
  }
}

/** Writes into a buffer that grows. */
export class RequestBytes {
  #bytes = Buffer.allocUnsafe(512)
  #at = 0

  get bytes(): Buffer {
    return this.#bytes.subarray(0, this.#at)
  }

  int8(value: number): this {
    this.#at = this.#room(1).writeInt8(value, this.#at)
    return this
  }

  int16(value: number): this {
    this.#at = this.#room(2).writeInt16BE(value, this.#at)
    return this
  }

  int32(value: number): this {
    this.#at = this.#room(4).writeInt32BE(value, this.#at)
    return this
  }

  int64(value: number): this {
    this.#at = this.#room(8).writeBigInt64BE(BigInt(value), this.#at)
    return this
  }

  /** Null: length −1. */
  string(value: string | null): this {
    if (value === null) return this.int16(-1)
    const length = Buffer.byteLength(value)
    this.int16(length)
    this.#at += this.#room(length).write(value, this.#at)
    return this
  }

  #room(bytes: number): Buffer {
    if (this.#at + bytes > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#at + bytes))
      this.#bytes.copy(larger, 0, 0, this.#at)
      this.#bytes = larger
    }
    return this.#bytes
  }
}

/** Reads an answer. Throws RangeError at its end. */
export class AnswerBytes {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get length(): number {
    return this.#bytes.length
  }

  int16(): number {
    return this.#bytes.readInt16BE(this.#passed(2))
  }

  int32(): number {
    return this.#bytes.readInt32BE(this.#passed(4))
  }

  int64(): number {
    return Number(this.#bytes.readBigInt64BE(this.#passed(8)))
  }

  string(): string {
    const length = this.int16()
    return this.#part(length).toString()
  }

  /** Length −1: none. */
  part(): Buffer {
    return this.#part(this.int32())
  }

  /** Length −1: none. */
  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: Math.max(0, this.int32()) }, read)
  }

  #part(length: number): Buffer {
    const from = this.#passed(Math.max(0, length))
    return this.#bytes.subarray(from, this.#at)
  }

  #passed(bytes: number): number {
    const from = this.#at
    if (from + bytes > this.#bytes.length) throw new RangeError(`An answer of ${this.#bytes.length} bytes ends too early.`)
    this.#at += bytes
    return from
  }
}

/** Errors that brokers name in answers to our own requests, by code. */
const errorTypes: Record<number, string> = {
  1: 'OFFSET_OUT_OF_RANGE',
  2: 'CORRUPT_MESSAGE',
  3: 'UNKNOWN_TOPIC_OR_PARTITION',
  5: 'LEADER_NOT_AVAILABLE',
  6: 'NOT_LEADER_FOR_PARTITION',
  7: 'REQUEST_TIMED_OUT',
  9: 'REPLICA_NOT_AVAILABLE',
  29: 'TOPIC_AUTHORIZATION_FAILED',
  56: 'STORAGE_ERROR',
  74: 'FENCED_LEADER_EPOCH',
  75: 'UNKNOWN_LEADER_EPOCH',
  76: 'UNSUPPORTED_COMPRESSION_TYPE',
  100: 'UNKNOWN_TOPIC_ID',
}

/** Undefined: no error. */
export const errorTypeOf = (code: number): string | undefined => (code === 0 ? undefined : (errorTypes[code] ?? 'UNKNOWN'))

export const brokerError = (type: string, doing: string): Error =>
  Object.assign(new Error(`${doing} was refused`), { name: 'KafkaJSProtocolError', type })
