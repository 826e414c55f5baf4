/**
 * Encodes the produce requests of our writers with encoding/record-batch.ts. kafkajs has no hook for that, so the module that
 * encodes its requests is replaced, for messages in a `MessageGroup`. Other producers in this process that use the same kafkajs
 * keep the original.
 *
 *   transactional id string, or length −1 │ acks i16 │ timeout i32, ms │ topics i32
 *   for each topic: name string │ partitions i32 │ for each partition: number i32 │ bytes of the batch i32 │ batch
 */
import { createRequire } from 'node:module'
import type { RecordOut } from '../../ports/index.ts'
import { encodeBatch } from '../encoding/index.ts'

/** The records of one partition in a produce request. */
export class MessageGroup extends Array<RecordOut> {}

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

/** kafkajs's write position in a request. */
interface Encoder {
  buf: Buffer
  offset: number
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
  const require = createRequire(import.meta.url)
  // They are loaded with the first request. Modules that another user of kafkajs has already loaded are loaded again.
  const formats = versions.map((version) => require.resolve(`${folder}/v${version}/request.js`))
  for (const format of formats) delete require.cache[format]
  const KafkajsEncoder = require('kafkajs/src/protocol/encoder.js') as new (bytes: number) => Encoder
  const encoded = (produce: Produce): Encoder => {
    const bytes = encode(produce)
    return Object.assign(new KafkajsEncoder(1), { buf: bytes, offset: bytes.length })
  }
  const [first] = formats
  const usual = require(first as string) as RequestFormat
  const loaded = require.cache[first as string]
  if (loaded === undefined) throw new Error(`${first} was loaded and is not there.`)
  loaded.exports = (produce: Produce): Request =>
    isOurs(produce) ? { ...usual(produce), encode: async () => encoded(produce) } : usual(produce)
  for (const format of formats) require(format)
}

const isOurs = ({ compression, topicData }: Produce): boolean =>
  compression === 0 && topicData.every(({ partitions }) => partitions.every(({ messages }) => messages instanceof MessageGroup))

function encode({ acks, timeout, transactionalId, producerId, producerEpoch, topicData }: Produce): Buffer {
  const isTransactional = typeof transactionalId === 'string' && transactionalId !== ''
  const producer = { timeMs: Date.now(), producerId: BigInt(producerId), producerEpoch, isTransactional }
  const settings = Buffer.allocUnsafe(6)
  settings.writeInt16BE(acks, 0)
  settings.writeInt32BE(timeout, 2)
  const parts = [text(transactionalId ?? null), settings, int32(topicData.length)]
  for (const { topic, partitions } of topicData) {
    parts.push(text(topic), int32(partitions.length))
    for (const { partition, firstSequence, messages } of partitions) {
      const batch = encodeBatch(messages, { ...producer, firstSequence })
      parts.push(int32(partition), int32(batch.length), batch)
    }
  }
  return Buffer.concat(parts)
}

/** A length as i16, −1 for null, and the characters. */
function text(value: string | null): Buffer {
  const bytes = Buffer.from(value ?? '')
  const length = Buffer.allocUnsafe(2)
  length.writeInt16BE(value === null ? -1 : bytes.length, 0)
  return Buffer.concat([length, bytes])
}

function int32(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value, 0)
  return bytes
}
