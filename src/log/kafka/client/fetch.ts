/**
 * One fetch from one broker. kafkajs can fetch too, but its decoder is not for untrusted bytes (record-batches.ts).
 *
 *   replica i32 │ wait i32 │ bytes least i32, most i32 │ isolation i8 │ session i32 │ its epoch i32 │ topics │ forgotten i32 │ rack string
 *   for each topic: name string │ for each partition: number i32 │ epoch i32 │ offset i64 │ log start i64 │ bytes most i32
 */
import type { Position, TopicPartition } from '../../../ground/ports/index.ts'
import type { Broker, Isolation } from './cluster.ts'
import { type AnswerBytes, errorTypeOf, RequestBytes, sendOwn } from './protocol.ts'
import { type AbortedTransaction, type Decoded, decodeBatches, type Room, roomOfAnswer } from './record-batches.ts'

/** With zstd, and without flexible fields: Kafka 2.3 and later. */
const [apiKey, apiVersion] = [1, 11]
const noSession = { id: 0, epoch: -1 }
/**
 * A part of an answer that is smaller than this share of it is copied, so that one pending record does not keep the whole answer
 * in memory.
 */
const copiedShare = 0.75

export interface FetchOptions {
  isolation: Isolation
  waitMs: number
  bytesMax: number
  partitionBytesMax: number
}

/** What a broker has answered for one partition. */
export interface Fetched extends TopicPartition, Decoded {
  /** Its error; the rest is empty then. */
  error: string | undefined
  highWatermark: number
  /** End of what a reader with this isolation may read. */
  end: number
  /** Of its records as the broker sent them. */
  bytes: number
}

export async function fetchFrom(broker: Broker, positions: readonly Position[], options: FetchOptions): Promise<Fetched[]> {
  const { fetched } = await sendOwn(broker, {
    ...{ key: apiKey, version: apiVersion, name: 'Fetch', body: bodyOf(positions, options) },
    decode: (answer) => decoded(answer, positions, options.isolation),
  })
  return fetched
}

function bodyOf(positions: readonly Position[], { isolation, waitMs, bytesMax, partitionBytesMax }: FetchOptions): Buffer {
  const request = new RequestBytes().int32(-1).int32(waitMs).int32(1).int32(bytesMax)
  request
    .int8(isolation === 'committed' ? 1 : 0)
    .int32(noSession.id)
    .int32(noSession.epoch)
  const topics = Map.groupBy(positions, ({ topic }) => topic)
  request.int32(topics.size)
  for (const [topic, parts] of topics) {
    request.string(topic).int32(parts.length)
    for (const { partition, offset } of parts) request.int32(partition).int32(-1).int64(offset).int64(-1).int32(partitionBytesMax)
  }
  return request.int32(0).string('').bytes
}

/** Time i32 │ error i16 │ session i32 │ topics: name string │ partitions as in `partIn`. */
async function decoded(answer: AnswerBytes, positions: readonly Position[], isolation: Isolation) {
  const clientSideThrottleTime = answer.int32()
  const error = errorTypeOf(answer.int16())
  answer.int32()
  const parts = answer.list(() => {
    const topic = answer.string()
    return answer.list(() => partIn(answer, topic))
  })
  const offsets = new Map(positions.map(({ topic, partition, offset }) => [`${topic}/${partition}`, offset]))
  const room = roomOfAnswer()
  const fetched: Fetched[] = []
  for (const part of parts.flat()) {
    // The broker sends whole batches, also those that begin before the offset.
    const from = offsets.get(`${part.topic}/${part.partition}`) ?? 0
    fetched.push(await read({ ...part, error: error ?? part.error }, from, isolation, room))
  }
  return { clientSideThrottleTime, fetched }
}

function partIn(answer: AnswerBytes, topic: string) {
  const partition = answer.int32()
  const error = errorTypeOf(answer.int16())
  const highWatermark = answer.int64()
  const stable = answer.int64()
  answer.int64()
  const aborted = answer.list((): AbortedTransaction => ({ producerId: answer.int64(), firstOffset: answer.int64() }))
  answer.int32()
  return { topic, partition, error, highWatermark, stable, aborted, bytes: answer.part(), answerBytes: answer.length }
}

async function read(part: ReturnType<typeof partIn>, offset: number, isolation: Isolation, room: Room): Promise<Fetched> {
  const { topic, partition, error, highWatermark, stable, aborted, bytes, answerBytes } = part
  const kept = bytes.length < copiedShare * answerBytes ? Buffer.from(bytes) : bytes
  const isCommitted = isolation === 'committed'
  const found = await decodeBatches(kept, { topic, partition, offset }, room, isCommitted ? aborted : [])
  return { topic, partition, error, highWatermark, end: isCommitted ? stable : highWatermark, bytes: bytes.length, ...found }
}
