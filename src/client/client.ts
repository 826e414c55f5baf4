/**
 * Schedules jobs by writing their definitions to the `jobs` topic, without the HTTP API. A resolved call is durable; the owner
 * of the job's partition applies it some milliseconds later.
 */
import type { JobDefinition, JobDefinitionInput } from '../../schemas/index.ts'
import { validateJobId } from '../../streams/definitions/index.ts'
import { counted } from '../../streams/text/index.ts'
import { DuelogError, messageOf } from '../errors/index.ts'
import type { Codec, LogWriter } from '../ports/index.ts'
import { BatchSender } from './batch-sender.ts'
import { DefinitionReader } from './definition-reader.ts'
import type { Job } from './job.ts'
import type { AnyPayloads, JobFor } from './typed-job.ts'

/** Rejections that the result of scheduleMany lists; all are counted and given to onRejected. */
export const rejectionsListedMax = 100

/** The place of the job's definition in the log. The API's ETag is `"<partition>.<offset>"`. */
export interface Written {
  partition: number
  offset: number
}

export interface Rejection {
  /** Index in the iterable, from 0. */
  index: number
  /** Id of the job, if it has one. */
  id: string | undefined
  /** `bad-definition`, `bad-job-id`, `payload-too-large` or `encode-failed`; the message has every problem. */
  error: DuelogError
}

export interface ScheduledMany {
  /** Jobs that are durable in the log. */
  accepted: number
  rejected: number
  /** The first 100 rejections. */
  rejections: Rejection[]
}

/** `Payloads`: payloads by handler, for the compiler. */
export interface Client<Payloads extends object = AnyPayloads> {
  /** Creates or replaces a job. Rejects with DuelogError `bad-definition`, `bad-job-id`, `payload-too-large` or `broker-unavailable`. */
  schedule(job: JobFor<Payloads>): Promise<Written>
  /**
   * Creates or replaces any number of jobs at the speed of the log; the iterable is read no faster than that. Only an invalid
   * job itself is rejected. Rejects with `broker-unavailable` if the log refuses; the message has the number of durable jobs.
   * The same jobs may be sent again: an id is scheduled once.
   */
  scheduleMany(
    jobs: Iterable<JobFor<Payloads>> | AsyncIterable<JobFor<Payloads>>,
    options?: { onRejected?: (rejection: Rejection) => void },
  ): Promise<ScheduledMany>
  /**
   * Deletes a job: no further occurrence fires, and its active runs are cancelled if their workers receive that in time.
   * Deleting an unknown job is no error. Rejects with `bad-job-id` or `broker-unavailable`.
   */
  cancel(id: string): Promise<Written>
  /** Waits for writes in-flight, then closes the connection. Safe to call twice. */
  close(): Promise<void>
}

/** The writer and codec of a client; src/cluster/cluster.ts opens them at the first use. */
export interface ClientPorts {
  writer: LogWriter
  definition: Codec<JobDefinition, JobDefinitionInput>
  /** Topic of the definitions. */
  topic: string
}

interface OpenedPorts extends ClientPorts {
  /** Reads single jobs. It is shared by all calls, because most differ from the last one only in id, time and payload. */
  reader: DefinitionReader
}

export function createJobClient<Payloads extends object = AnyPayloads>(open: () => Promise<ClientPorts>): Client<Payloads> {
  let opening: Promise<OpenedPorts> | undefined
  let closed = false
  const ports = async (): Promise<OpenedPorts> => {
    if (closed) throw new DuelogError('bad-request', 'the client is closed; create another one')
    opening ??= open().then((opened) => ({ ...opened, reader: new DefinitionReader(opened.definition) }))
    try {
      return await opening
    } catch (error) {
      // The next call tries again: an unreachable broker may be back.
      opening = undefined
      throw error
    }
  }
  const write = async (id: string, value: Buffer | null): Promise<Written> => {
    const { writer, topic } = await ports()
    const offsets = await writer.write([{ topic, ofJob: true, key: id, value }])
    for (const [place, offset] of offsets) return { partition: Number(place.slice(place.lastIndexOf('/') + 1)), offset }
    throw new DuelogError('internal', `the log acknowledged job ${id} without an offset`)
  }
  return {
    async schedule(job) {
      const { reader } = await ports()
      const { id, value } = reader.read(job as Job)
      return write(id, value)
    },
    async scheduleMany(jobs, { onRejected } = {}) {
      return scheduleMany(await ports(), jobs as Iterable<Job> | AsyncIterable<Job>, onRejected)
    },
    async cancel(id) {
      const problem = validateJobId(id)
      if (problem !== undefined) throw new DuelogError('bad-job-id', problem.message)
      return write(id, null)
    },
    async close() {
      closed = true
      const opened = await opening?.catch(() => undefined)
      await opened?.writer.close()
    },
  }
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
