/**
 * The client that writes definitions to the `jobs` topic, without the HTTP API: one at a time, or many in batches of which a bounded
 * number is in-flight.
 */
import type { JobDefinition, JobDefinitionInput } from '../../../schemas/index.ts'
import { definitionWarnings } from '../../../streams/definitions/index.ts'
import { type OnlyOver, onlyOverHeaders } from '../../../streams/state/index.ts'
import { counted, quoted } from '../../../streams/text/index.ts'
import { partitionOf } from '../../../streams/topics/index.ts'
import { callOptions, DuelogError, messageOf } from '../../ground/errors/index.ts'
import type { Codec, LogWriter, RecordOut } from '../../ground/ports/index.ts'
import { checkedId, checkedJobs, checkedOnRejected } from './call-checks.ts'
import type { KafkaClient } from './client.ts'
import { DefinitionReader } from './definition-reader.ts'
import type { AnyPayloads, Job } from './job.ts'
import type { WriteCondition } from './options.ts'
import {
  type JobRecord,
  type Rejection,
  rejectionsListedMax,
  type Scheduled,
  type ScheduledMany,
  type Written,
} from './options.ts'
import { type PayloadChecker, scheduleChecked } from './payload-checker.ts'

/** The writer and codec of a client; src/log/cluster/cluster.ts opens them at the first use. */
interface ClientPorts {
  writer: LogWriter
  definition: Codec<JobDefinition, JobDefinitionInput>
  /** Topic of the definitions. */
  topic: string
  /** Number of its partitions. */
  partitions: number
  /** Of payloads. Absent: they are not checked. */
  checker?: PayloadChecker | undefined
}

interface OpenedPorts extends ClientPorts {
  /** Reads single jobs. It is shared by all calls, because most differ from the last one only in id, time and payload. */
  reader: DefinitionReader
}

export function createKafkaClient<Payloads extends object = AnyPayloads>(
  open: () => Promise<ClientPorts>,
): KafkaClient<Payloads> {
  return new DefinitionWriter(open) as unknown as KafkaClient<Payloads>
}

class DefinitionWriter implements KafkaClient {
  readonly #open: () => Promise<ClientPorts>
  #opening: Promise<OpenedPorts> | undefined
  #closed = false

  constructor(open: () => Promise<ClientPorts>) {
    this.#open = open
  }

  async schedule(job: Parameters<KafkaClient['schedule']>[0], options?: WriteCondition): Promise<Scheduled> {
    const condition = callOptions<WriteCondition>('schedule', options, { ifMatch: true, ifAbsent: true })
    const { reader, partitions, checker } = await this.#ports()
    await checker?.check(job as Job)
    const { id, value, definition } = reader.read(job as Job)
    const warnings = definitionWarnings(id, definition, partitions)
    const written = await this.#write(id, value, headersOf(condition))
    return { id, etag: `"${written.partition}.${written.offset}"`, ...written, applied: false, warnings }
  }

  async scheduleMany(
    jobs: Iterable<Job> | AsyncIterable<Job>,
    options?: Parameters<KafkaClient['scheduleMany']>[1],
  ): Promise<ScheduledMany> {
    const onRejected = checkedOnRejected(options)
    checkedJobs(jobs)
    const ports = await this.#ports()
    if (ports.checker === undefined) return scheduleMany(ports, jobs, onRejected)
    return scheduleChecked(ports.checker, jobs, onRejected, (checked, options) =>
      scheduleMany(ports, checked, options.onRejected),
    )
  }

  async delete(id: string): Promise<Written> {
    checkedId(id)
    return await this.#write(id, null)
  }

  async records(...jobs: Parameters<KafkaClient['records']>): Promise<JobRecord[]> {
    const ports = await this.#ports()
    for (const job of jobs) await ports.checker?.check(job as Job)
    return jobs.map((job) => {
      const { id, value } = ports.reader.read(job as Job)
      return recordOf(ports, id, value)
    })
  }

  async deletionRecords(...ids: string[]): Promise<JobRecord[]> {
    for (const id of ids) checkedId(id)
    const ports = await this.#ports()
    return ids.map((id) => recordOf(ports, id, null))
  }

  async close(): Promise<void> {
    this.#closed = true
    const opened = await this.#opening?.catch(() => undefined)
    await opened?.writer.close()
  }

  async #ports(): Promise<OpenedPorts> {
    if (this.#closed) throw new DuelogError('bad-request', 'the client is closed; create another one')
    this.#opening ??= this.#open().then((opened) => ({ ...opened, reader: new DefinitionReader(opened.definition) }))
    try {
      return await this.#opening
    } catch (error) {
      // The next call tries again: an unreachable broker may be back.
      this.#opening = undefined
      throw error
    }
  }

  async #write(id: string, value: Buffer | null, headers?: Record<string, string>): Promise<Written> {
    const { writer, topic } = await this.#ports()
    const offsets = await writer.write([{ topic, ofJob: true, key: id, value, ...(headers !== undefined && { headers }) }])
    for (const [place, offset] of offsets) return { partition: Number(place.slice(place.lastIndexOf('/') + 1)), offset }
    throw new DuelogError('internal', `the log acknowledged job ${id} without an offset`)
  }
}

const recordOf = ({ topic, partitions }: OpenedPorts, id: string, value: Buffer | null): JobRecord => ({
  topic,
  partition: partitionOf(id, partitions),
  key: Buffer.from(id),
  value,
  headers: {},
})

/** Throws `bad-request`. */
function headersOf({ ifMatch, ifAbsent }: WriteCondition): Record<string, string> | undefined {
  if (ifMatch !== undefined && ifAbsent === true)
    throw new DuelogError('bad-request', 'ifMatch and ifAbsent exclude each other. Use one of them.')
  const condition: OnlyOver | undefined = ifAbsent === true ? 'none' : ifMatch === undefined ? undefined : offsetOf(ifMatch)
  return condition === undefined ? undefined : onlyOverHeaders(condition)
}

function offsetOf(etag: unknown): number {
  const [, offset] = /^"?\d+\.(\d+)"?$/.exec(typeof etag === 'string' ? etag : '') ?? []
  if (offset !== undefined) return Number(offset)
  throw new DuelogError('bad-request', `ifMatch is ${quoted(etag)}; give the etag of the job, such as "0.12"`)
}

async function scheduleMany(
  { writer, definition, topic }: ClientPorts,
  jobs: Iterable<Job> | AsyncIterable<Job>,
  onRejected: ((rejection: Rejection) => void) | undefined,
): Promise<ScheduledMany> {
  const reader = new DefinitionReader(definition)
  const sender = new BatchSender(writer)
  const rejections: Rejection[] = []
  let rejected = 0
  let index = -1
  /** True when the log must catch up first. */
  const add = (job: Job): boolean => {
    index++
    try {
      const { id, value } = reader.read(job)
      return sender.add({ topic, ofJob: true, key: id, value }, value.length + id.length)
    } catch (thrown) {
      const error =
        thrown instanceof DuelogError ? thrown : new DuelogError('bad-definition', messageOf(thrown), { cause: thrown })
      const rejection: Rejection = { index, id: (job as { id?: string } | null | undefined)?.id, error }
      rejected++
      if (rejections.length < rejectionsListedMax) rejections.push(rejection)
      onRejected?.(rejection)
      return false
    }
  }
  try {
    if (Symbol.asyncIterator in jobs) {
      for await (const job of jobs) if (add(job)) await sender.room()
    } else {
      for (const job of jobs) if (add(job)) await sender.room()
    }
    await sender.finish()
  } catch (error) {
    // The log refused, or the caller's iterable or callback threw: writes in-flight end first, so that the count is true.
    await sender.finish().catch(() => {})
    const message = `scheduleMany ended early with ${counted(sender.written, 'job')} durable; send the same jobs again: ${messageOf(error)}`
    throw new DuelogError(error instanceof DuelogError ? error.code : 'bad-request', message, { cause: error })
  }
  return { accepted: sender.written, rejected, rejections }
}

export const batchRecordsMax = 1_000
const batchBytesMax = 512 * 1024
/** Maximum batches in-flight. The writer joins waiting batches into one request, so several keep it busy. */
export const batchesInFlightMax = 8

class BatchSender {
  readonly #writer: LogWriter
  #records: RecordOut[] = []
  #bytes = 0
  /** None of them rejects. */
  readonly #inFlight = new Set<Promise<void>>()
  #failure: { error: unknown } | undefined
  /** Records that the log has acknowledged. */
  written = 0

  constructor(writer: LogWriter) {
    this.#writer = writer
  }

  /** True if the caller must await room() before it adds more. */
  add(record: RecordOut, bytes: number): boolean {
    this.#records.push(record)
    this.#bytes += bytes
    if (this.#records.length < batchRecordsMax && this.#bytes < batchBytesMax) return false
    this.#send()
    return this.#inFlight.size >= batchesInFlightMax || this.#failure !== undefined
  }

  /** Resolves when another batch may be sent. Rejects if one could not be written. */
  async room(): Promise<void> {
    while (this.#inFlight.size >= batchesInFlightMax && this.#failure === undefined) await Promise.race(this.#inFlight)
    this.#check()
  }

  /** Sends the rest and resolves when all are written. Rejects if a batch could not be written, after the others have ended. */
  async finish(): Promise<void> {
    if (this.#failure === undefined && this.#records.length > 0) this.#send()
    await Promise.all(this.#inFlight)
    this.#check()
  }

  #send(): void {
    const records = this.#records
    this.#records = []
    this.#bytes = 0
    const sent = this.#writer
      .write(records)
      .then(
        () => {
          this.written += records.length
        },
        (error: unknown) => {
          this.#failure ??= { error }
        },
      )
      .finally(() => this.#inFlight.delete(sent))
    this.#inFlight.add(sent)
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure.error
  }
}
