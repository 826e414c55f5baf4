/** Requests of our own, over kafkajs's connections: their bytes, those of their answers, and the errors that brokers name in them. */
import type { Broker } from './cluster.ts'

export interface OwnRequest<Answer> {
  key: number
  version: number
  name: string
  body: Buffer
  /** Whether the answer is of a flexible version. */
  isFlexible?: boolean
  /** Also gives the time for which the broker throttles the connection, which kafkajs observes. */
  decode(answer: AnswerBytes): Promise<Answer & { clientSideThrottleTime: number }>
}

export async function sendOwn<Answer>(
  broker: Broker,
  { key, version, name, body, isFlexible, decode }: OwnRequest<Answer>,
): Promise<Answer> {
  try {
    return await broker.connectionPool.send<Answer>({
      request: {
        ...{ apiKey: key, apiVersion: version, apiName: name },
        encode: async () => ({ buf: body, buffer: body }),
      },
      response: { decode: (bytes) => decode(new AnswerBytes(bytes, isFlexible)), parse: async (answer) => answer },
    })
  } catch (error) {
    // As kafkajs does it with its own requests: the next one opens a new connection.
    if ((error as Error).name === 'KafkaJSConnectionClosedError') await broker.disconnect()
    throw error
  }
}

/**
 * Writes into a buffer that grows. In flexible versions (KIP-482) lengths and counts are varints of one more, so that 0 stands for
 * null, and each structure, also the header of the request, ends with `tags`.
 */
export class RequestBytes {
  readonly #isFlexible: boolean
  #bytes: Buffer
  #at = 0

  /** `bytes`: expected size. */
  constructor(isFlexible = false, bytes = 512) {
    this.#isFlexible = isFlexible
    this.#bytes = Buffer.allocUnsafe(bytes)
    this.tags()
  }

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

  int64(value: number | bigint): this {
    this.#at = this.#room(8).writeBigInt64BE(BigInt(value), this.#at)
    return this
  }

  /** Null: length −1. */
  string(value: string | null): this {
    const length = value === null ? -1 : Buffer.byteLength(value)
    if (this.#isFlexible) this.#varint(length + 1)
    else this.int16(length)
    if (value !== null) this.#at += this.#room(length).write(value, this.#at)
    return this
  }

  part(content: Buffer): this {
    this.#length(content.length)
    this.#at += content.copy(this.#room(content.length), this.#at)
    return this
  }

  list<Item>(items: readonly Item[], write: (item: Item) => void): this {
    this.#length(items.length)
    for (const item of items) write(item)
    return this
  }

  /** No tagged fields. */
  tags(): this {
    if (this.#isFlexible) this.#varint(0)
    return this
  }

  #length(count: number): void {
    if (this.#isFlexible) this.#varint(count + 1)
    else this.int32(count)
  }

  /** Unsigned, 7 bits for each byte, lowest first. */
  #varint(value: number): void {
    const bytes = this.#room(5)
    let rest = value
    for (; rest > 0x7f; rest >>>= 7) bytes[this.#at++] = (rest & 0x7f) | 0x80
    bytes[this.#at++] = rest
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

/** Reads an answer, the same way. Throws RangeError at its end. */
export class AnswerBytes {
  readonly #isFlexible: boolean
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer, isFlexible = false) {
    this.#bytes = bytes
    this.#isFlexible = isFlexible
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

  bigint(): bigint {
    return this.#bytes.readBigInt64BE(this.#passed(8))
  }

  /** Length −1: empty. */
  string(): string {
    return this.#part(this.#isFlexible ? this.varint() - 1 : this.int16()).toString()
  }

  /** Length −1: none. */
  part(): Buffer {
    return this.#part(this.#length())
  }

  /** Length −1: none. */
  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: Math.max(0, this.#length()) }, read)
  }

  /** Tagged fields, if the version has any. `read`: called with each number; what it leaves of a field is skipped. */
  tags(read: (tag: number) => void = () => {}): void {
    if (!this.#isFlexible) return
    for (let left = this.varint(); left > 0; left--) {
      const tag = this.varint()
      const bytes = this.varint()
      const from = this.#passed(bytes)
      this.#at = from
      read(tag)
      this.#at = from + bytes
    }
  }

  varint(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#passed(1)] as number
      value |= (byte & 0x7f) << shift
      if (byte <= 0x7f || shift >= 28) return value >>> 0
    }
  }

  #length(): number {
    return this.#isFlexible ? this.varint() - 1 : this.int32()
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

/** Errors that brokers name in answers to our own requests, by code. Names are those of kafkajs, as far as it knows them. */
const errorTypes: Record<number, string> = {
  ...{ [-1]: 'UNKNOWN', 1: 'OFFSET_OUT_OF_RANGE', 2: 'CORRUPT_MESSAGE', 3: 'UNKNOWN_TOPIC_OR_PARTITION' },
  ...{ 5: 'LEADER_NOT_AVAILABLE', 6: 'NOT_LEADER_FOR_PARTITION', 7: 'REQUEST_TIMED_OUT', 9: 'REPLICA_NOT_AVAILABLE' },
  ...{ 10: 'MESSAGE_TOO_LARGE', 13: 'NETWORK_EXCEPTION', 14: 'GROUP_LOAD_IN_PROGRESS', 15: 'GROUP_COORDINATOR_NOT_AVAILABLE' },
  ...{ 16: 'NOT_COORDINATOR_FOR_GROUP', 17: 'INVALID_TOPIC_EXCEPTION', 18: 'RECORD_LIST_TOO_LARGE', 19: 'NOT_ENOUGH_REPLICAS' },
  ...{ 20: 'NOT_ENOUGH_REPLICAS_AFTER_APPEND', 29: 'TOPIC_AUTHORIZATION_FAILED', 30: 'GROUP_AUTHORIZATION_FAILED' },
  ...{ 31: 'CLUSTER_AUTHORIZATION_FAILED', 32: 'INVALID_TIMESTAMP', 35: 'UNSUPPORTED_VERSION', 44: 'POLICY_VIOLATION' },
  ...{ 45: 'OUT_OF_ORDER_SEQUENCE_NUMBER', 47: 'INVALID_PRODUCER_EPOCH', 48: 'INVALID_TXN_STATE' },
  ...{ 49: 'INVALID_PRODUCER_ID_MAPPING', 50: 'INVALID_TRANSACTION_TIMEOUT', 51: 'CONCURRENT_TRANSACTIONS' },
  ...{ 52: 'TRANSACTION_COORDINATOR_FENCED', 53: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 55: 'OPERATION_NOT_ATTEMPTED' },
  ...{ 56: 'STORAGE_ERROR', 59: 'UNKNOWN_PRODUCER_ID', 74: 'FENCED_LEADER_EPOCH', 75: 'UNKNOWN_LEADER_EPOCH' },
  ...{ 76: 'UNSUPPORTED_COMPRESSION_TYPE', 87: 'INVALID_RECORD', 90: 'PRODUCER_FENCED', 100: 'UNKNOWN_TOPIC_ID' },
  ...{ 120: 'TRANSACTION_ABORTABLE' },
}

/** Undefined: no error. */
export const errorTypeOf = (code: number): string | undefined => (code === 0 ? undefined : (errorTypes[code] ?? `ERROR_${code}`))

export const brokerError = (type: string, doing: string): Error =>
  Object.assign(new Error(`${doing} was refused`), { name: 'KafkaJSProtocolError', type })

/** Throws the error that the broker has named in it. */
export function answerOf<Answer extends { error?: string | undefined }>(answer: Answer, doing: string): Answer {
  if (answer.error !== undefined) throw brokerError(answer.error, doing)
  return answer
}
