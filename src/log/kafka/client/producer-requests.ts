/**
 * The requests of producers and of transactions. Of those that transactions of version 2 (KIP-890) have changed there are two versions, which differ in
 * their encoding and in a few fields: the old one, which every broker knows, and a flexible one.
 *
 *   version 1   AddPartitionsToTxn ──► Produce ──► EndTxn
 *   version 2   Produce, whose leaders add the partitions ──► EndTxn, which answers the next epoch
 */
import type { GroupPositions, TopicPartition } from '../../../ground/ports/index.ts'
import { type AnswerBytes, errorTypeOf, type OwnRequest, RequestBytes } from './protocol.ts'

/** Under which a producer writes; the broker gives them. */
export interface ProducerId {
  producerId: bigint
  producerEpoch: number
}

/** Who writes in a transaction. */
export interface TransactionProducer extends ProducerId {
  transactionalId: string
  /** Transactions of version 2. */
  isV2: boolean
}

export interface Answer {
  /** Its type; absent: done. */
  error: string | undefined
}

/** A record batch for a partition, encoded. */
export interface EncodedBatch extends TopicPartition {
  bytes: Buffer
}

export interface BatchAnswer extends Answer, TopicPartition {
  baseOffset: number
  /** −1 if the topic has the time of producers. */
  appendTimeMs: number
}

const throttled = (answer: AnswerBytes) => ({ clientSideThrottleTime: answer.int32() })
const errorIn = (answer: AnswerBytes) => ({ error: errorTypeOf(answer.int16()) })
const byTopic = <Place extends TopicPartition>(places: readonly Place[]): [string, Place[]][] => [
  ...Map.groupBy(places, ({ topic }) => topic),
]

/** The fields by which the requests of a transaction begin. */
const bodyOf = ({ transactionalId, producerId, producerEpoch }: TransactionProducer, isFlexible: boolean): RequestBytes =>
  new RequestBytes(isFlexible).string(transactionalId).int64(producerId).int16(producerEpoch)

/** Name and version of ours, in the form that brokers require. */
const software = ['duelog', '1'] as const
const finalizedFeatures = 2

/** Whether transactions of version 2 are switched on. Brokers before Kafka 2.4 do not know the question. */
export function featuresRequest(): OwnRequest<{ isV2: boolean }> {
  const body = new RequestBytes(true)
  for (const text of software) body.string(text)
  return {
    ...{ key: 18, version: 3, name: 'ApiVersions', body: body.tags().bytes, isFlexible: true },
    // The header of this answer has no tags, so that any client can read the error.
    decode: async (answer) => {
      if (errorIn(answer).error !== undefined) return { clientSideThrottleTime: 0, isV2: false }
      answer.list(() => [answer.int16(), answer.int16(), answer.int16(), answer.tags()])
      const throttle = throttled(answer)
      let isV2 = false
      answer.tags((tag) => {
        if (tag !== finalizedFeatures) return
        answer.list(() => {
          const name = answer.string()
          const [newest] = [answer.int16(), answer.int16(), answer.tags()]
          isV2 ||= name === 'transaction.version' && newest >= 2
        })
      })
      return { ...throttle, isV2 }
    },
  }
}

/** Fences all earlier holders of the id. Null: a producer without transactions. */
export function initProducerIdRequest(transactionalId: string | null, timeoutMs: number): OwnRequest<Answer & ProducerId> {
  return {
    ...{ key: 22, version: 1, name: 'InitProducerId', body: new RequestBytes().string(transactionalId).int32(timeoutMs).bytes },
    decode: async (answer) => ({ ...throttled(answer), ...errorIn(answer), ...producerIn(answer) }),
  }
}

const producerIn = (answer: AnswerBytes): ProducerId => ({ producerId: answer.bigint(), producerEpoch: answer.int16() })

/** The error is that of the first partition that has one of its own. */
export function addPartitionsRequest(producer: TransactionProducer, places: readonly TopicPartition[]): OwnRequest<Answer> {
  const body = bodyOf(producer, false)
  body.list(byTopic(places), ([topic, parts]) => body.string(topic).list(parts, ({ partition }) => body.int32(partition)))
  return { key: 24, version: 1, name: 'AddPartitionsToTxn', body: body.bytes, decode: async (answer) => errorOfPlaces(answer) }
}

/** Time i32 │ topics: name string │ partitions: number i32, error i16 */
function errorOfPlaces(answer: AnswerBytes): Answer & { clientSideThrottleTime: number } {
  answer.tags()
  const throttle = throttled(answer)
  const errors = answer.list(() => {
    answer.string()
    const ofTopic = answer.list(() => {
      answer.int32()
      const { error } = errorIn(answer)
      answer.tags()
      return error
    })
    answer.tags()
    return ofTopic
  })
  const found = errors.flat().filter((error) => error !== undefined)
  return { ...throttle, error: found.find((error) => error !== 'OPERATION_NOT_ATTEMPTED') ?? found[0] }
}

/** `transactionalId`: null without a transaction. `isV2`: the leaders add the partitions to it. */
export function produceRequest(
  { transactionalId, isV2 }: { transactionalId: string | null; isV2: boolean },
  timeoutMs: number,
  batches: readonly EncodedBatch[],
): OwnRequest<{ answers: BatchAnswer[] }> {
  const size = batches.reduce((sum, { topic, bytes }) => sum + bytes.length + 3 * topic.length + 32, 512)
  const body = new RequestBytes(isV2, size).string(transactionalId).int16(acksOfAll).int32(timeoutMs)
  body.list(byTopic(batches), ([topic, parts]) => {
    body
      .string(topic)
      .list(parts, ({ partition, bytes }) => body.int32(partition).part(bytes).tags())
      .tags()
  })
  return {
    ...{ key: 0, version: isV2 ? 12 : 7, name: 'Produce', body: body.tags().bytes, isFlexible: isV2 },
    decode: async (answer) => {
      answer.tags()
      const answers = answer.list(() => {
        const topic = answer.string()
        const parts = answer.list(() => batchAnswerIn(answer, topic, isV2))
        answer.tags()
        return parts
      })
      return { ...throttled(answer), answers: answers.flat() }
    },
  }
}

const acksOfAll = -1

/** Number i32 │ error i16 │ base offset i64 │ append time i64 │ log start i64; since version 8: errors of records │ message */
function batchAnswerIn(answer: AnswerBytes, topic: string, isV2: boolean): BatchAnswer {
  const place = { topic, partition: answer.int32(), ...errorIn(answer), baseOffset: answer.int64(), appendTimeMs: answer.int64() }
  answer.int64()
  if (isV2) {
    answer.list(() => [answer.int32(), answer.string(), answer.tags()])
    answer.string()
    answer.tags()
  }
  return place
}

/** Version 1 only: prepares the commit of a group's offsets. */
export function addOffsetsRequest(producer: TransactionProducer, groupId: string): OwnRequest<Answer> {
  return {
    ...{ key: 25, version: 1, name: 'AddOffsetsToTxn', body: bodyOf(producer, false).string(groupId).bytes },
    decode: async (answer) => ({ ...throttled(answer), ...errorIn(answer) }),
  }
}

/** Not by a member of the group: a member id and a generation would fence members, and the transactional id is the fence. */
export function commitOffsetsRequest(producer: TransactionProducer, { groupId, positions }: GroupPositions): OwnRequest<Answer> {
  const { transactionalId, producerId, producerEpoch, isV2 } = producer
  const body = new RequestBytes(isV2).string(transactionalId).string(groupId).int64(producerId).int16(producerEpoch)
  if (isV2) body.int32(noGeneration).string('').string(null)
  body.list(byTopic(positions), ([topic, parts]) => {
    body.string(topic).list(parts, ({ partition, offset, metadata = '' }) => {
      body.int32(partition).int64(offset)
      if (isV2) body.int32(noLeaderEpoch)
      body.string(metadata).tags()
    })
    body.tags()
  })
  return {
    ...{ key: 28, version: isV2 ? 5 : 1, name: 'TxnOffsetCommit', body: body.tags().bytes, isFlexible: isV2 },
    decode: async (answer) => errorOfPlaces(answer),
  }
}

const noGeneration = -1
const noLeaderEpoch = -1

/** `next`: the producer of the next transaction, whose sequence numbers begin from 0; undefined in version 1. */
export function endRequest(
  producer: TransactionProducer,
  isCommit: boolean,
): OwnRequest<Answer & { next: ProducerId | undefined }> {
  const { isV2 } = producer
  return {
    ...{ key: 26, version: isV2 ? 5 : 1, name: 'EndTxn', isFlexible: isV2 },
    body: bodyOf(producer, isV2)
      .int8(isCommit ? 1 : 0)
      .tags().bytes,
    decode: async (answer) => {
      answer.tags()
      return { ...throttled(answer), ...errorIn(answer), next: isV2 ? producerIn(answer) : undefined }
    },
  }
}
