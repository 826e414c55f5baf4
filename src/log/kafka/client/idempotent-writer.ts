/**
 * The idempotent writer. Calls that arrive during a request go out together in the next one, because an idempotent producer may
 * have only one request per broker in flight.
 */
import type { Kafka } from 'kafkajs'
import { recordBytes } from '../../../../streams/topics/index.ts'
import { DuelogError, isOfRecord } from '../../../ground/errors/index.ts'
import type { LogWriter, RecordOut } from '../../../ground/ports/index.ts'
import { anyBroker, clusterOf } from './cluster.ts'
import { closed, faultOn, type LogSettings } from './connection.ts'
import { faultOf, growingWaits, isLoss, retryWhile } from './errors.ts'
import type { PartitionCounts } from './partition-counts.ts'
import { BatchProducer, batchBytesMax, checkSizes, roundsOf, targetOf } from './produce.ts'
import { initProducerIdRequest } from './producer-requests.ts'
import { answerOf, sendOwn } from './protocol.ts'

/** Maximum records and bytes of calls that are joined in one request. A larger single call goes alone. */
const joinedRecordsMax = 5_000
const joinedBytesMax = 8_000_000
/** Maximum number of waiting calls. More are refused, so that a slow broker shows as an error and not as memory. */
const waitingCallsMax = 100_000

interface Call {
  records: RecordOut[]
  /** Names of all its topics. */
  topics: string
  bytes: number
  /** Bytes for each topic-partition. */
  bytesByPlace: ReadonlyMap<string, number>
  resolve(offsets: Map<string, number>): void
  reject(error: Error): void
}

export class IdempotentWriter implements LogWriter {
  readonly #kafka: Kafka
  readonly #counts: PartitionCounts
  readonly #settings: LogSettings
  /** Absent after a failure, until the next request. */
  #producer: BatchProducer | undefined
  #waiting: Call[] = []
  #sending: Promise<void> | undefined
  #closed = false

  constructor(kafka: Kafka, counts: PartitionCounts, settings: LogSettings) {
    this.#kafka = kafka
    this.#counts = counts
    this.#settings = settings
  }

  async open(): Promise<this> {
    this.#producer = await this.#connect()
    return this
  }

  async write(records: RecordOut[]): Promise<Map<string, number>> {
    if (this.#closed) throw new DuelogError('internal', 'The writer is closed; open a new one.')
    if (records.length === 0) return new Map()
    checkSizes(records)
    const known = this.#counts.known(records) ?? (await this.#counts.of(records))
    let bytes = 0
    const bytesByPlace = new Map<string, number>()
    for (const record of records) {
      const place = placeOf(record, known)
      const size = recordBytes(record)
      bytes += size
      bytesByPlace.set(place, (bytesByPlace.get(place) ?? 0) + size)
    }
    if (this.#waiting.length >= waitingCallsMax)
      throw new DuelogError('broker-unavailable', `${waitingCallsMax} writes already wait for the brokers; try again later.`)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ records, topics: topicsOf(records), bytes, bytesByPlace, resolve, reject })
      this.#sending ??= this.#sendAll()
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await closed(this.#end(), 'A producer', this.#settings)
  }

  async #end(): Promise<void> {
    await this.#sending
    const producer = this.#producer
    this.#producer = undefined
    await producer?.close()
  }

  async #sendAll(): Promise<void> {
    // Calls of the same step of the event loop join the first request.
    await Promise.resolve()
    while (this.#waiting.length > 0) await this.#send(this.#take())
    this.#sending = undefined
  }

  /**
   * The calls of one request, in order: those to the topic of the first. A broker accepts or refuses each partition of a request
   * separately, and kafkajs does not say which it accepted. So a refusal of one topic would leave the writes to another in doubt.
   * The records of several calls for one partition fit in one batch of the log, where their offsets are contiguous: between two
   * batches another producer may write.
   */
  #take(): Call[] {
    const topics = this.#waiting[0]?.topics
    const taken: Call[] = []
    const left: Call[] = []
    let records = 0
    let bytes = 0
    const bytesByPlace = new Map<string, number>()
    for (const [index, call] of this.#waiting.entries()) {
      if (call.topics !== topics) {
        left.push(call)
        continue
      }
      records += call.records.length
      bytes += call.bytes
      let fits = records <= joinedRecordsMax && bytes <= joinedBytesMax
      for (const [place, size] of call.bytesByPlace) {
        const sum = (bytesByPlace.get(place) ?? 0) + size
        bytesByPlace.set(place, sum)
        fits &&= sum <= batchBytesMax
      }
      if (!fits && taken.length > 0) {
        this.#waiting = [...left, ...this.#waiting.slice(index)]
        return taken
      }
      taken.push(call)
    }
    this.#waiting = left
    return taken
  }

  /**
   * Records of several callers go together. If the brokers refuse a record of one caller, only that call fails: the others are
   * sent again. A partition that has already accepted its part gets it twice then, so this applies only to refused records. None
   * of our own topics accepts a part and refuses another with the settings that we create it with (streams/topics/topics.ts). In
   * foreign topics, definitions, commands and reports may be duplicated without harm.
   */
  async #send(calls: Call[]): Promise<void> {
    const fault = await this.#sent(calls)
    if (fault === undefined) return
    if (calls.length > 1 && isOfRecord(fault)) for (const call of calls) await this.#send([call])
    else for (const call of calls) call.reject(fault)
  }

  /** Undefined: all calls are answered. An error: none is answered, and it is unknown which of their records were written. */
  async #sent(calls: Call[]): Promise<DuelogError | undefined> {
    try {
      const all = calls.length === 1 ? (calls[0] as Call).records : calls.flatMap((call) => call.records)
      const counts = await this.#counts.of(all)
      this.#producer ??= await this.#connect()
      const next = await this.#producer.produce(roundsOf(all, counts), this.#endMs())
      for (const call of calls) call.resolve(offsetsOf(call.records, counts, next))
      return undefined
    } catch (thrown) {
      // After any failure the producer's sequence numbers may be wrong: the broker could take the next batch for a repeat of the
      // failed one and drop it. A new producer starts from 0. The callers of the failed calls have to find out what was written.
      this.#retire()
      return faultOf(thrown, `Writing to ${calls[0]?.topics}`)
    }
  }

  #retire(): void {
    const producer = this.#producer
    this.#producer = undefined
    producer?.close().catch(() => {})
  }

  /** Nothing is tried again for longer than a request may take. */
  #endMs(): number {
    return performance.now() + this.#settings.requestTimeoutMs
  }

  async #connect(): Promise<BatchProducer> {
    const cluster = clusterOf(this.#kafka)
    const { requestTimeoutMs, onAppended } = this.#settings
    const request = initProducerIdRequest(null, requestTimeoutMs)
    try {
      await cluster.connect()
      const id = await retryWhile(isLoss, growingWaits(this.#endMs()), async () =>
        answerOf(await sendOwn(await anyBroker(cluster), request), 'A producer id'),
      )
      return new BatchProducer(cluster, { ...id, isV2: false }, { transactionalId: null, requestTimeoutMs, onAppended })
    } catch (thrown) {
      await cluster.disconnect().catch(() => {})
      throw faultOn(this.#kafka, thrown, 'Connecting a producer')
    }
  }
}

const placeOf = (record: RecordOut, counts: ReadonlyMap<string, number>): string => `${record.topic}/${targetOf(record, counts)}`
const topicsOf = (records: RecordOut[]): string => [...new Set(records.map(({ topic }) => topic))].sort().join(', ')

/**
 * First offset of this call's records in each partition. `next` is advanced for the following call; the offsets of a batch are
 * contiguous.
 */
function offsetsOf(records: RecordOut[], counts: ReadonlyMap<string, number>, next: Map<string, number>): Map<string, number> {
  const first = new Map<string, number>()
  for (const record of records) {
    const place = placeOf(record, counts)
    const offset = next.get(place)
    if (offset === undefined) continue
    if (!first.has(place)) first.set(place, offset)
    next.set(place, offset + 1)
  }
  return first
}
