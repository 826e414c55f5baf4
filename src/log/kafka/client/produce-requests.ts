/**
 * Encodes the produce requests of our writers with batch-encoder.ts. kafkajs has no hook for that, so the module that
 * encodes its requests is replaced, for messages in a `MessageGroup`. Other producers in this process that use the same kafkajs
 * keep the original.
 *
 *   transactional id string, or length −1 │ acks i16 │ timeout i32, ms │ topics i32
 *   for each topic: name string │ partitions i32 │ for each partition: number i32 │ bytes of the batch i32 │ batch
 */
import { createRequire } from 'node:module'
import type { RecordOut } from '../../../ground/ports/index.ts'
import { encodeBatch } from './batch-encoder.ts'

const require = createRequire(import.meta.url)
const KafkajsEncoder = require('kafkajs/src/protocol/encoder.js') as new () => Encoder

/** The records of one partition in a produce request. */
export class MessageGroup extends Array<RecordOut> {
  #sentAs: string | undefined

  /** Throws RepeatedInFlight if they were encoded before, for another producer or under another first sequence number. */
  requireSame(sentAs: string): void {
    this.#sentAs ??= sentAs
    if (this.#sentAs !== sentAs) throw new RepeatedInFlight()
  }
}

/** kafkajs repeats a request while the broker may still write its records. The broker would take the repeat for new records. */
class RepeatedInFlight extends Error {
  /** So that kafkajs gives up. */
  readonly retriable = false
  /** An error with a code is one of the connection to the brokers (errors.ts). */
  readonly code = 'ERR_REPEATED_IN_FLIGHT'
  constructor() {
    super('A request to one broker failed while another had not answered yet')
  }
}

interface TopicData {
  topic: string
  partitions: { partition: number; firstSequence: number; messages: MessageGroup }[]
}

/** What kafkajs gives to the encoder of a produce request. */
interface Produce {
  acks: number
  timeout: number
  /** 0: none. */
  compression: number
  transactionalId?: string | null
  producerId: string
  producerEpoch: number
  topicData: TopicData[]
}

/** kafkajs's encoder of a request. Its strings have a length of i16, its bytes one of i32. */
interface Encoder {
  writeString(value: string | null | undefined): this
  writeInt16(value: number): this
  writeInt32(value: number): this
  writeBytes(bytes: Buffer): this
}

interface Request {
  encode(): Promise<Encoder>
}
type RequestFormat = (produce: Produce) => Request

const folder = 'kafkajs/src/protocol/requests/produce'
/** Versions of the produce request that have the format of version 3. */
const versions = [3, 4, 5, 6, 7]
let isInstalled = false

/** From then on, kafkajs's requests for records in a `MessageGroup` are encoded here. */
export function installProduceRequests(): void {
  if (isInstalled) return
  isInstalled = true
  const formats = versions.map((version) => require.resolve(`${folder}/v${version}/request.js`))
  // They are loaded again at their next use, also if another user of kafkajs has loaded them. The later versions call version 3.
  for (const format of formats) delete require.cache[format]
  const [third = ''] = formats
  const usual = require(third) as RequestFormat
  const loaded = require.cache[third]
  if (loaded === undefined) throw new Error(`${third} was loaded and is not there.`)
  const replacement: RequestFormat = (produce) =>
    isOurs(produce) ? { ...usual(produce), encode: async () => encode(produce) } : usual(produce)
  loaded.exports = replacement
}

const isOurs = ({ compression, topicData }: Produce): boolean =>
  compression === 0 && topicData.every(({ partitions }) => partitions.every(({ messages }) => messages instanceof MessageGroup))

function encode({ acks, timeout, transactionalId, producerId, producerEpoch, topicData }: Produce): Encoder {
  const producer = {
    timeMs: Date.now(),
    producerId: BigInt(producerId),
    producerEpoch,
    isTransactional: Boolean(transactionalId),
  }
  const request = new KafkajsEncoder()
    .writeString(transactionalId)
    .writeInt16(acks)
    .writeInt32(timeout)
    .writeInt32(topicData.length)
  for (const { topic, partitions } of topicData) {
    request.writeString(topic).writeInt32(partitions.length)
    for (const { partition, firstSequence, messages } of partitions) {
      messages.requireSame(`${producerId}/${producerEpoch}/${firstSequence}`)
      request.writeInt32(partition).writeBytes(encodeBatch(messages, { ...producer, firstSequence }))
    }
  }
  return request
}
