/** The client over HTTP: a call for each thing that the API does. Definitions may go to Kafka instead. */
import { apiOver, type JobDefinition, type Written as WrittenAnswer } from '../../ground/answers/index.ts'
import { type Clock, systemClock } from '../../ground/clock/index.ts'
import { callOptions, DuelogError } from '../../ground/errors/index.ts'
import { type Address, ApiClient, knownCode, type LineResult, runLinePages, uploadLines } from '../remote/index.ts'
import {
  checkedCall,
  checkedCommand,
  checkedDelete,
  checkedId,
  checkedJobs,
  checkedOnRejected,
  checkedRunNo,
  checkedSchedule,
  checkedTrigger,
} from './call-checks.ts'
import type { Client, JobRecords, KafkaClient } from './client.ts'
import { commandCalls, jobLines, pageSize, readCalls, runOf, systemCalls, withJsonPayload, withTexts } from './http-calls.ts'
import type { AnyPayloads, Job, JobFor } from './job.ts'
import type { CallOptions, ScheduleOptions } from './options.ts'
import { type Rejection, rejectionsListedMax, type Scheduled, type ScheduledMany } from './options.ts'
import { type PayloadChecker, scheduleChecked } from './payload-checker.ts'
import { RunFailedError, runAwaiter, runPromise } from './run-promise.ts'

/**
 * `checker`: of the payloads of jobs that go over HTTP. `kafka`: writes definitions. Without it, or for a write that asks for an answer of the owner, they go over HTTP too. The client closes it.
 */
export function createHttpClient<Payloads extends object = AnyPayloads, Results extends object = AnyPayloads>(
  address: Address,
  given?: KafkaClient<Payloads>,
  checker?: PayloadChecker,
  clock: Clock = systemClock,
): Client<Payloads, Results> & JobRecords<Payloads> {
  const kafka = given as KafkaClient | undefined
  const work = new OpenWork()
  // Requests are not cut off by `close`: what they write may be durable.
  const remote = new ApiClient(address)
  const api = apiOver((request) => work.during(() => remote.ask(request)))
  const awaitRun = runAwaiter({ api: remote.calls, clock, closed: work.closed })
  const writes = new Writes({ api, remote, work, kafka, checker })
  const calls: Client & JobRecords = {
    ...readCalls(api),
    ...commandCalls(api),
    ...systemCalls(api),
    schedule: (job: JobFor<AnyPayloads>, options?: ScheduleOptions) =>
      runPromise(writes.schedule(job, options), awaitRun, ({ id, etag }) => [id, { etag }]),
    call: (...call) => runPromise(writes.call(...call), awaitRun, ({ id, etag }) => [id, { etag }]),
    scheduleMany: (jobs: Iterable<Job> | AsyncIterable<Job>, options?: Parameters<Client['scheduleMany']>[1]) =>
      writes.scheduleMany(jobs, options),
    delete: (id, options) => writes.delete(id, options),
    awaitRun,
    async *logs(id, runNo, options) {
      const { follow = false, ...range } = callOptions('logs', options, { follow: true, from: true, to: true })
      checkedRunNo('logs', runNo)
      const asked = { id: checkedId(id), runNo, limit: pageSize, ...withTexts(range) }
      const read = (cursor: string | undefined) => api.getRunLogs({ ...asked, cursor })
      for await (const page of runLinePages(read, { follow, clock, signal: work.closed })) yield* page.lines
    },
    trigger: (id, options) =>
      makeRun(id, async () => {
        const { payload, ...command } = checkedTrigger(options)
        const body = payload === undefined ? undefined : withJsonPayload({ payload })
        return api.triggerJob({ id: checkedId(id), ...command, body })
      }),
    redrive: (id, runNo, options) =>
      makeRun(id, async () => api.redriveRun({ ...runOf('redrive', id, runNo), ...checkedCommand('redrive', options) })),
    records: (...jobs) => withKafka('records').records(...jobs),
    deletionRecords: (...ids) => withKafka('deletionRecords').deletionRecords(...ids),
    async close() {
      await work.close()
      await kafka?.close()
    },
  }
  return calls as unknown as Client<Payloads, Results> & JobRecords<Payloads>

  function makeRun(id: string, command: () => ReturnType<typeof api.triggerJob>): ReturnType<Client['trigger']> {
    return runPromise(command(), awaitRun, ({ commandId, applied, runId, reason }) => {
      if (applied && runId === null)
        throw new RunFailedError(`No run was made of job ${JSON.stringify(id)}: ${reason ?? 'see its why'}`)
      return [id, { commandId }]
    })
  }

  function withKafka(method: string): KafkaClient {
    if (kafka !== undefined) return kafka
    throw new DuelogError(
      'bad-config',
      `client.${method} needs the schemas of the registry; give createClient the option brokers too`,
    )
  }
}

/** Requests in flight, besides waits. */
class OpenWork {
  readonly #closed = new AbortController()
  readonly #open = new Set<Promise<unknown>>()

  /** Aborted by `close`. */
  get closed(): AbortSignal {
    return this.#closed.signal
  }

  /** `close` waits for the work. */
  async during<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.closed.throwIfAborted()
    const done = work()
    this.#open.add(done)
    try {
      return await done
    } finally {
      this.#open.delete(done)
    }
  }

  async close(): Promise<void> {
    this.#closed.abort(new DuelogError('bad-request', 'the client is closed; create another one'))
    await Promise.allSettled([...this.#open])
  }
}

interface WriteParts {
  api: ApiClient['calls']
  remote: ApiClient
  work: OpenWork
  kafka: KafkaClient | undefined
  checker: PayloadChecker | undefined
}

/** Writes of definitions, over Kafka where it can be. */
class Writes {
  readonly #parts: WriteParts

  constructor(parts: WriteParts) {
    this.#parts = parts
  }

  async schedule(job: JobFor<AnyPayloads>, options: ScheduleOptions | undefined): Promise<Scheduled> {
    const given = checkedSchedule(options)
    const { kafka, work } = this.#parts
    const isPlain = given.wait === undefined && given.ifMatch === undefined && given.ifAbsent !== true
    return kafka !== undefined && isPlain ? work.during(() => kafka.schedule(job)) : this.#put(job as Job, given)
  }

  async #put(job: Job, { wait, ifMatch, ifAbsent }: ScheduleOptions): Promise<Scheduled> {
    if (typeof job !== 'object' || job === null)
      throw new DuelogError('bad-definition', 'schedule needs a job: an object with id, schedule and target.')
    const id = checkedId(job.id)
    const { api, checker } = this.#parts
    await checker?.check(job)
    const condition = { ifMatch, ...(ifAbsent === true && { ifNoneMatch: '*' }) }
    return scheduledOf(await api.putJob({ id, wait, ...condition, body: withJsonPayload(job) as JobDefinition }))
  }

  async call(handler: string, payload: unknown, options: CallOptions | undefined): Promise<Scheduled> {
    const { job, command } = checkedCall(handler, payload, options)
    const { api, checker } = this.#parts
    await checker?.check(job as Job)
    return scheduledOf(await api.createJob({ ...command, body: withJsonPayload(job) as JobDefinition }))
  }

  async scheduleMany(
    jobs: Iterable<Job> | AsyncIterable<Job>,
    options: Parameters<Client['scheduleMany']>[1],
  ): Promise<ScheduledMany> {
    const onRejected = checkedOnRejected(options)
    checkedJobs(jobs)
    const { kafka, work, checker } = this.#parts
    if (kafka !== undefined) return work.during(() => kafka.scheduleMany(jobs, onRejected === undefined ? {} : { onRejected }))
    if (checker === undefined) return this.#upload(jobs, onRejected)
    return scheduleChecked(checker, jobs, onRejected, (checked, { onRejected: refused }) => this.#upload(checked, refused))
  }

  async #upload(jobs: Iterable<Job> | AsyncIterable<Job>, onRejected?: (rejection: Rejection) => void): Promise<ScheduledMany> {
    const made: ScheduledMany = { accepted: 0, rejected: 0, rejections: [] }
    const unwritable = new Map<number, DuelogError>()
    const onResult = ({ line, ok, id, code, detail = '' }: LineResult): void => {
      if (ok) {
        made.accepted++
        return
      }
      const index = line - 1
      const rejection = { index, id, error: unwritable.get(index) ?? new DuelogError(knownCode(code), detail) }
      unwritable.delete(index)
      made.rejected++
      if (made.rejections.length < rejectionsListedMax) made.rejections.push(rejection)
      onRejected?.(rejection)
    }
    const lines = jobLines(jobs, (index, error) => void unwritable.set(index, error))
    const { remote, work } = this.#parts
    await work.during(() => uploadLines(remote, lines, onResult))
    return made
  }

  async delete(id: string, options: Parameters<Client['delete']>[1]): Promise<void> {
    const { ifMatch } = checkedDelete(options)
    const { api, kafka, work } = this.#parts
    if (kafka !== undefined && ifMatch === undefined) await work.during(() => kafka.delete(id))
    else await api.deleteJob({ id: checkedId(id), ifMatch })
  }
}

function scheduledOf({ id, etag, partition, offset, applied, status, reason, warnings = [] }: WrittenAnswer): Scheduled {
  const state = { ...(status !== undefined && { status }), ...(reason !== undefined && { reason }) }
  return { id, etag, partition, offset, applied, ...state, warnings }
}
