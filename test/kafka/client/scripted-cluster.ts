/** kafkajs's connections with brokers of the test in place of real ones. Requests and answers are bytes, read and written by this file alone. */
import type { Cluster } from '../../../src/log/kafka/client/cluster.ts'

/** Reads fields in order, of the old encoding or the flexible one. */
class Fields {
  readonly #bytes: Buffer
  readonly #flexible: boolean
  at = 0
  constructor(bytes: Buffer, flexible: boolean) {
    this.#bytes = bytes
    this.#flexible = flexible
    this.tags()
  }
  skip(bytes: number): this {
    this.at += bytes
    return this
  }
  #uvarint(): number {
    let [value, scale] = [0, 1]
    for (;;) {
      const byte = this.#bytes.readUInt8(this.at++)
      value += (byte % 128) * scale
      scale *= 128
      if (byte < 128) return value
    }
  }
  tags(): this {
    if (this.#flexible && this.#uvarint() !== 0) throw new Error('a tagged field that was not expected')
    return this
  }
  string(): string {
    const length = this.#flexible ? this.#uvarint() - 1 : this.i16()
    return this.raw(Math.max(0, length)).toString()
  }
  raw(length: number): Buffer {
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }
  i16(): number {
    return this.#bytes.readInt16BE(this.skip(2).at - 2)
  }
  i32(): number {
    return this.#bytes.readInt32BE(this.skip(4).at - 4)
  }
  i64(): bigint {
    return this.#bytes.readBigInt64BE(this.skip(8).at - 8)
  }
  count(): number {
    return this.#flexible ? this.#uvarint() - 1 : this.i32()
  }
  rest(): number {
    return this.#bytes.length - this.at
  }
}

class Answer {
  readonly #parts: Buffer[] = []
  readonly #flexible: boolean
  constructor(flexible: boolean, hasHeaderTags = flexible) {
    this.#flexible = flexible
    if (hasHeaderTags) this.raw(0)
  }
  raw(...bytes: number[]): this {
    this.#parts.push(Buffer.from(bytes))
    return this
  }
  tags(): this {
    return this.#flexible ? this.raw(0) : this
  }
  #number(size: number, value: number | bigint): this {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64BE(BigInt(value))
    this.#parts.push(bytes.subarray(8 - size))
    return this
  }
  i16 = (value: number): this => this.#number(2, value)
  i32 = (value: number): this => this.#number(4, value)
  i64 = (value: number | bigint): this => this.#number(8, value)
  count = (value: number): this => (this.#flexible ? this.raw(value + 1) : this.i32(value))
  string(value: string): this {
    if (this.#flexible) this.raw(value.length + 1)
    else this.i16(value.length)
    this.#parts.push(Buffer.from(value))
    return this
  }
  get bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }
}

/** What a request says. */
export interface Said {
  broker: number
  name: string
  version: number
  transactionalId: string
  producerId: bigint
  epoch: number
  /** `topic/partition`, and in a Produce `topic/partition from its first sequence`. */
  places: string[]
}

export const codes = {
  UNKNOWN: -1,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  NOT_LEADER_FOR_PARTITION: 6,
  MESSAGE_TOO_LARGE: 10,
  GROUP_LOAD_IN_PROGRESS: 14,
  GROUP_COORDINATOR_NOT_AVAILABLE: 15,
  NOT_COORDINATOR_FOR_GROUP: 16,
  NOT_ENOUGH_REPLICAS: 19,
  TOPIC_AUTHORIZATION_FAILED: 29,
  INVALID_PRODUCER_EPOCH: 47,
  INVALID_TXN_STATE: 48,
  INVALID_PRODUCER_ID_MAPPING: 49,
  CONCURRENT_TRANSACTIONS: 51,
  OPERATION_NOT_ATTEMPTED: 55,
  PRODUCER_FENCED: 90,
} as const
export type ErrorName = keyof typeof codes

/** An error: of the whole request, or of a place. Undefined: done. */
export type Reply = ErrorName | { [place: string]: ErrorName } | undefined

export const lost = (): Error => Object.assign(new Error('the connection is closed'), { name: 'KafkaJSConnectionClosedError' })

export interface Script {
  /** Version of transactions that is switched on. Default: 2. 0: a broker that does not know features. */
  version?: number
  /** Called for each request except for ApiVersions. It may reject, as a connection that is lost does. */
  answer?: (said: Said) => Reply | Promise<Reply>
  /** Broker that leads a partition. Default: 1. Undefined: there is none. */
  leaderOf?: (topic: string, partition: number) => number | undefined
  /** Offset that an appended batch gets. Default: 10 for each batch before it. */
  offset?: bigint
  /** Leaves these places out of answers to Produce. */
  forgets?: readonly string[]
}

const names: Record<number, string> = {
  0: 'produce',
  18: 'features',
  22: 'init',
  24: 'add',
  25: 'addOffsets',
  26: 'end',
  28: 'offsets',
}
const flexibleFrom: Record<number, number> = { 0: 9, 18: 3, 22: 2, 24: 3, 25: 3, 26: 3, 28: 3 }
/** Where the first sequence of a record batch is. */
const firstSequenceAt = 53

/** `said`: all requests, as "broker name places". `move`: the coordinator is another broker from now on. */
export function scriptedCluster({ version = 2, answer = () => undefined, leaderOf = () => 1, ...script }: Script = {}) {
  const heard: Said[] = []
  const said: string[] = []
  let coordinator = 1
  let epoch = 4
  let appended = 0n
  let metadata = new Map<string, object[]>()
  const note = (text: string): void => void said.push(text)

  const listed = (fields: Fields, read: () => string): string[] => {
    const places: string[] = []
    for (let topics = fields.count(); topics > 0; topics--) {
      const topic = fields.string()
      for (let partitions = fields.count(); partitions > 0; partitions--) places.push(`${topic}/${read()}`)
      fields.tags()
    }
    return places
  }
  const placesIn = (fields: Fields, name: string, apiVersion: number): string[] => {
    if (name === 'add') return listed(fields, () => String(fields.i32()))
    if (name === 'offsets')
      return listed(fields, () => {
        const place = `${fields.i32()} at ${fields.i64()}`
        if (apiVersion >= 2) fields.skip(4)
        fields.string()
        fields.tags()
        return place
      })
    return listed(fields, () => {
      const partition = fields.i32()
      const batch = fields.raw(fields.count())
      fields.tags()
      return `${partition} from ${batch.readInt32BE(firstSequenceAt)}`
    })
  }
  const read = (broker: number, apiKey: number, apiVersion: number, body: Buffer): Said => {
    const name = names[apiKey] ?? `request ${apiKey}`
    const fields = new Fields(body, apiVersion >= (flexibleFrom[apiKey] ?? 99))
    const told: Said = { broker, name, version: apiVersion, transactionalId: '', producerId: -1n, epoch: -1, places: [] }
    if (name === 'features') return told
    told.transactionalId = fields.string()
    if (name === 'init') return { ...told, places: [] }
    if (name === 'produce') fields.skip(6)
    if (name === 'offsets') fields.string()
    if (name !== 'produce') {
      told.producerId = fields.i64()
      told.epoch = fields.i16()
    }
    if (name === 'offsets' && apiVersion >= 3) {
      fields.skip(4).string()
      fields.string()
    }
    if (name === 'end') fields.skip(1).tags()
    else if (name === 'addOffsets') fields.string()
    else {
      told.places = placesIn(fields, name, apiVersion)
      fields.tags()
    }
    if (fields.rest() !== 0) throw new Error(`${fields.rest()} bytes are left of ${name}`)
    return told
  }
  const byTopic = (places: readonly string[]) =>
    Map.groupBy(
      places.map((place) => place.split(' ')[0] ?? ''),
      (place) => place.slice(0, place.lastIndexOf('/')),
    )
  const answerTo = async (told: Said): Promise<Buffer> => {
    const { name, version: apiVersion, places } = told
    if (name === 'features') {
      if (version === 0) return new Answer(false).i16(35).count(0).bytes
      const feature = new Answer(true, false).count(1).string('transaction.version').i16(version).i16(version).raw(0).bytes
      const body = new Answer(true, false).i16(0).count(1).i16(26).i16(0).i16(5).raw(0).i32(0)
      return Buffer.concat([body.raw(2, 1, 8).bytes, Buffer.alloc(8), Buffer.from([2, feature.length]), feature])
    }
    const reply = await answer(told)
    const whole = typeof reply === 'string' ? codes[reply] : 0
    const code = (place: string): number => (typeof reply === 'object' && reply[place] ? codes[reply[place]] : whole)
    const flexible = apiVersion >= ({ produce: 9, offsets: 3, end: 3 }[name] ?? 99)
    const to = new Answer(flexible)
    if (name === 'init')
      return to
        .i32(0)
        .i16(whole)
        .i64(7)
        .i16(whole === 0 ? epoch++ : -1).bytes
    if (name === 'end') {
      to.i32(0).i16(whole)
      return (apiVersion >= 5 ? to.i64(whole === 0 ? 7 : -1).i16(told.epoch + 1) : to).tags().bytes
    }
    if (name === 'addOffsets') return to.i32(0).i16(whole).bytes
    if (name !== 'produce') to.i32(0)
    const topics = byTopic(places.filter((place) => !script.forgets?.includes(place.split(' ')[0] ?? '')))
    to.count(topics.size)
    for (const [topic, parts] of topics) {
      to.string(topic).count(parts.length)
      for (const place of parts) {
        to.i32(Number(place.slice(topic.length + 1))).i16(code(place))
        if (name === 'produce')
          to.i64(code(place) === 0 ? (script.offset ?? 10n * appended++) : -1)
            .i64(-1)
            .i64(0)
        if (name === 'produce' && flexible) to.count(0).raw(0)
        to.tags()
      }
      to.tags()
    }
    return (name === 'produce' ? to.i32(0) : to).tags().bytes
  }

  const broker = (nodeId: number) => ({
    nodeId,
    isConnected: () => true,
    disconnect: async () => {},
    findGroupCoordinator: async ({ coordinatorType }: { coordinatorType: number }) => {
      note(`find ${coordinatorType === 1 ? 'transaction' : 'group'}`)
      return { coordinator: { nodeId: coordinator } }
    },
    connectionPool: {
      send: async ({
        request,
        response,
      }: {
        request: { apiKey: number; apiVersion: number; encode(): Promise<{ buffer: Buffer }> }
        response: { decode(bytes: Buffer): Promise<unknown> }
      }) => {
        const told = read(nodeId, request.apiKey, request.apiVersion, (await request.encode()).buffer)
        heard.push(told)
        note([nodeId, told.name, ...told.places].join(' '))
        return response.decode(await answerTo(told))
      },
    },
  })
  const refresh = async (): Promise<void> => {
    metadata = new Map([...metadata.keys()].map((topic) => [topic, []]))
    for (const [topic, partitions] of metadata)
      for (let partitionId = 0; partitionId < 4; partitionId++)
        partitions.push({ partitionId, leader: leaderOf(topic, partitionId) ?? -1 })
  }
  const cluster = {
    connect: async () => {},
    disconnect: async () => {},
    brokerPool: { metadata: {}, findConnectedBroker: async () => broker(3) },
    findBroker: async ({ nodeId }: { nodeId: number | string }) => broker(Number(nodeId)),
    addMultipleTargetTopics: async (topics: string[]) => {
      note(`learn ${topics.join(' ')}`)
      for (const topic of topics) metadata.set(topic, [])
      await refresh()
    },
    refreshMetadata: async () => {
      note('refresh')
      await refresh()
    },
    findTopicPartitionMetadata: (topic: string) => metadata.get(topic) ?? [],
    findLeaderForPartitions: (topic: string, [partition = 0]: number[]) => ({
      [String(leaderOf(topic, partition))]: [partition],
    }),
  } as unknown as Cluster
  const move = (to: number): void => {
    coordinator = to
  }
  return { cluster, said, heard, move }
}
