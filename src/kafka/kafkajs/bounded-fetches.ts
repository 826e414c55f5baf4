/**
 * Installs our decoder for fetches of kafkajs (decoding/record-batches.ts), and removes aborted records before kafkajs looks for
 * them (decoding/aborted-records.ts). kafkajs has no hook for that, so some of its modules are replaced. Other consumers in this
 * process that use the same kafkajs keep the original ones.
 */
import {
  type AbortedTransaction,
  batchAt,
  decodeBatches,
  type FetchedMessage,
  type Room,
  roomOfAnswer,
  withoutAborted,
} from '../decoding/index.ts'
import { forgetModule, replaced, replaceModule } from './overrides.ts'

/** kafkajs's read position in an answer. */
interface Decoder {
  buffer: Buffer
  offset: number
  readInt32(): number
  canReadBytes(length: number): boolean
  readBytes(length: number): Buffer
}
type DecodeMessages = (decoder: Decoder) => Promise<unknown[]>

interface Answer {
  responses: { partitions: { messages: FetchedMessage[]; abortedTransactions: AbortedTransaction[] }[] }[]
}
interface AnswerFormat {
  decode(bytes: Buffer): Promise<Answer>
}

const folder = 'kafkajs/src/protocol/requests/fetch'
/** Versions of the fetch response that share the module. */
const versions = [4, 5, 6, 7, 8, 9, 10, 11]
/**
 * A part of an answer that is smaller than this share of it is copied, so that one pending record does not keep the whole answer
 * in memory.
 */
const copiedShare = 0.75

/** Runs a consumer. All its fetches are decoded within our limits from then on. */
export const withBoundedFetches = replaced(install)

function install(isOurs: () => boolean): void {
  const rooms = new WeakMap<Buffer, Room>()
  const bounded =
    (usual: DecodeMessages): DecodeMessages =>
    async (decoder) => {
      const { buffer, offset } = decoder
      const length = decoder.readInt32()
      const isPresent = length > batchAt.magic && decoder.canReadBytes(length)
      // A later version has an unknown format.
      if (!isPresent || (buffer[decoder.offset + batchAt.magic] as number) > 2 || !isOurs()) {
        decoder.offset = offset
        return usual(decoder)
      }
      const bytes = decoder.readBytes(length)
      const room = rooms.get(buffer) ?? roomOfAnswer()
      rooms.set(buffer, room)
      return decodeBatches(length < copiedShare * buffer.length ? Buffer.from(bytes) : bytes, room)
    }
  replaceModule(`${folder}/v4/decodeMessages.js`, bounded)
  const formats = versions.map((version) => `${folder}/v${version}/response.js`)
  for (const format of formats) forgetModule(format)
  for (const format of formats)
    replaceModule<AnswerFormat>(format, (usual) => ({
      ...usual,
      decode: (bytes) => usual.decode(bytes).then((answer) => (isOurs() ? committedOf(answer) : answer)),
    }))
}

function committedOf(answer: Answer): Answer {
  for (const { partitions } of answer.responses)
    for (const part of partitions) {
      // Messages from before Kafka 0.11 have no transactions.
      if (!part.messages.every(({ batchContext }) => batchContext !== undefined)) continue
      part.messages = withoutAborted(part.messages, part.abortedTransactions)
      part.abortedTransactions = []
    }
  return answer
}
