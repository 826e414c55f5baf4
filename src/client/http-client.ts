/** The client over HTTP: one method for each thing that the API does, typed by its OpenAPI document. */
import type {
  Accepted,
  CommandResult,
  JobExplanation,
  Operation,
  OperationRequest,
  RunLogPage,
  Written as WrittenAnswer,
} from '../answers/index.ts'
import { type Clock, systemClock } from '../clock/index.ts'
import { callOptions, DuelogError } from '../errors/index.ts'
import {
  type Address,
  ApiClient,
  knownCode,
  type LineResult,
  pages,
  path,
  type Request,
  runLinePages,
  uploadLines,
} from '../remote/index.ts'
import {
  type JobInfo,
  type Rejection,
  type RunInfo,
  type RunLine,
  rejectionsListedMax,
  type Scheduled,
  type ScheduledMany,
} from './answers.ts'
import {
  checkedCall,
  checkedCommand,
  checkedDelete,
  checkedFilter,
  checkedId,
  checkedJobs,
  checkedName,
  checkedOnRejected,
  checkedRunNo,
  checkedSchedule,
  checkedSkip,
  checkedTrigger,
} from './call-checks.ts'
import type { Client, JobRecords, KafkaClient } from './client.ts'
import type { Job } from './job.ts'
import { jobLines, withJsonPayload } from './job-lines.ts'
import type {
  AwaitedRunOf,
  CallOptions,
  CommandOptions,
  JobFilter,
  RunLogOptions,
  ScheduleOptions,
  WaitOptions,
} from './options.ts'
import { type PayloadChecker, scheduleChecked } from './payload-checker.ts'
import { runAwaiter } from './run-awaiter.ts'
import { type AwaitRun, RunFailedError, type RunPromise, runPromise } from './run-promise.ts'
import type { AnyPayloads, JobFor } from './typed-job.ts'

const pageSize = 500

/**
 * `checker`: of the payloads of jobs that go over HTTP. `kafka`: writes definitions. Without it, or for a write that asks for an answer of the owner, they go over HTTP too. The client closes it.
 */
export function createHttpClient<Payloads extends object = AnyPayloads, Results extends object = AnyPayloads>(
  address: Address,
  kafka?: KafkaClient<Payloads>,
  checker?: PayloadChecker,
  clock: Clock = systemClock,
): Client<Payloads, Results> & JobRecords<Payloads> {
  return new HttpClient(address, kafka as KafkaClient | undefined, checker, clock) as unknown as Client<Payloads, Results> &
    JobRecords<Payloads>
}

class HttpClient implements Client, JobRecords {
  readonly #kafka: KafkaClient | undefined
  readonly #checker: PayloadChecker | undefined
  readonly #awaitRun: AwaitRun
  readonly #api: ApiClient
  readonly #clock: Clock
  readonly #closed = new AbortController()
  /** Requests in flight besides waits. */
  readonly #open = new Set<Promise<unknown>>()

  constructor(address: Address, kafka: KafkaClient | undefined, checker: PayloadChecker | undefined, clock: Clock) {
    this.#kafka = kafka
    this.#checker = checker
    this.#clock = clock
    this.#awaitRun = runAwaiter({ address, clock, closed: this.#closed.signal })
    // Requests are not cut off by `close`: what they write may be durable.
    this.#api = new ApiClient(address, new AbortController().signal)
  }

  schedule(job: JobFor<AnyPayloads>, options?: ScheduleOptions): RunPromise<Scheduled> {
    return runPromise(this.#schedule(job, options), this.#awaitRun, ({ id, etag }) => [id, { etag }])
  }

  async #schedule(job: JobFor<AnyPayloads>, options?: ScheduleOptions): Promise<Scheduled> {
    const given = checkedSchedule(options)
    const isPlain = given.wait === undefined && given.ifMatch === undefined && given.ifAbsent !== true
    const kafka = isPlain ? this.#kafka : undefined
    return kafka === undefined ? this.#put(job as Job, given) : this.#during(() => kafka.schedule(job))
  }

  call(handler: string, payload: unknown, options?: CallOptions): RunPromise<Scheduled> {
    return runPromise(this.#call(handler, payload, options), this.#awaitRun, ({ id, etag }) => [id, { etag }])
  }

  async #call(handler: string, payload: unknown, options: CallOptions | undefined): Promise<Scheduled> {
    const { job, command } = checkedCall(handler, payload, options)
    await this.#checker?.check(job as Job)
    const request = { body: withJsonPayload(job as Job), headers: keyHeaders(command) }
    return scheduledOf(await this.#ask<WrittenAnswer>('POST', '/v1/jobs', request))
  }

  async #put(job: Job, { wait, ...condition }: ScheduleOptions): Promise<Scheduled> {
    if (typeof job !== 'object' || job === null)
      throw new DuelogError('bad-definition', 'schedule needs a job: an object with id, schedule and target.')
    const id = checkedId(job.id)
    await this.#checker?.check(job)
    const answer = await this.#ask<WrittenAnswer>('PUT', path`/v1/jobs/${id}`, {
      body: withJsonPayload(job),
      query: { wait },
      headers: conditionHeaders(condition),
    })
    return scheduledOf(answer)
  }

  async scheduleMany(
    jobs: Iterable<Job> | AsyncIterable<Job>,
    options?: Parameters<Client['scheduleMany']>[1],
  ): Promise<ScheduledMany> {
    const onRejected = checkedOnRejected(options)
    checkedJobs(jobs)
    const kafka = this.#kafka
    if (kafka !== undefined) return this.#during(() => kafka.scheduleMany(jobs, onRejected === undefined ? {} : { onRejected }))
    const checker = this.#checker
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
    await this.#during(() =>
      uploadLines(
        this.#api,
        jobLines(jobs, (index, error) => void unwritable.set(index, error)),
        onResult,
      ),
    )
    return made
  }

  async delete(id: string, options?: { ifMatch?: string }): Promise<void> {
    const { ifMatch } = checkedDelete(options)
    const kafka = ifMatch === undefined ? this.#kafka : undefined
    if (kafka !== undefined) return void (await this.#during(() => kafka.delete(id)))
    await this.#ask<Accepted | undefined>('DELETE', path`/v1/jobs/${checkedId(id)}`, { headers: conditionHeaders({ ifMatch }) })
  }

  async get(id: string): Promise<JobInfo | undefined> {
    return this.#find(path`/v1/jobs/${checkedId(id)}`)
  }

  async *list(options?: JobFilter): AsyncGenerator<JobInfo> {
    const { dueBefore, ...filter } = checkedFilter(options)
    yield* this.#pages<JobInfo>('/v1/jobs', { ...filter, dueBefore: timeText(dueBefore) }, 'jobs')
  }

  async runs(id: string): Promise<RunInfo[]> {
    return (await this.#read<{ runs: RunInfo[] }>(path`/v1/jobs/${checkedId(id)}/runs`)).runs
  }

  async run(id: string, runNo: number): Promise<RunInfo | undefined> {
    checkedRunNo('run', runNo)
    return this.#find(path`/v1/runs/${checkedId(id)}/${runNo}`)
  }

  async *logs(id: string, runNo: number, options?: RunLogOptions): AsyncGenerator<RunLine> {
    const { follow = false, from, to } = callOptions('logs', options, { follow: true, from: true, to: true })
    checkedRunNo('logs', runNo)
    const route = path`/v1/jobs/${checkedId(id)}/runs/${runNo}/logs`
    const query = { limit: pageSize, from: timeText(from), to: timeText(to) }
    const read = (of: Request['query']): Promise<RunLogPage> => this.#ask('GET', route, { query: of })
    const pages = runLinePages(read, query, { follow, clock: this.#clock, signal: this.#closed.signal })
    for await (const page of pages) yield* page.lines
  }

  activeRuns(filter: Parameters<Client['activeRuns']>[0] = {}): AsyncIterable<RunInfo> {
    return this.#pages('/v1/runs', { ...filter }, 'runs')
  }

  history({ from, to, ...filter }: Parameters<Client['history']>[0] = {}): ReturnType<Client['history']> {
    return this.#pages('/v1/history', { ...filter, from: timeText(from), to: timeText(to) }, 'runs')
  }

  handlers({ from, to }: Parameters<Client['handlers']>[0] = {}): ReturnType<Client['handlers']> {
    return this.#ask('GET', '/v1/history/handlers', { query: { from: timeText(from), to: timeText(to) } })
  }

  historyCounts({ from, to, ...filter }: Parameters<Client['historyCounts']>[0] = {}): ReturnType<Client['historyCounts']> {
    return this.#ask('GET', '/v1/history/counts', { query: { ...filter, from: timeText(from), to: timeText(to) } })
  }

  awaitRun(id: string, which: AwaitedRunOf, options?: WaitOptions): Promise<RunInfo> {
    return this.#awaitRun(id, which, options)
  }

  async why(id: string): Promise<JobExplanation> {
    return this.#read(path`/v1/jobs/${checkedId(id)}/why`)
  }

  trigger(id: string, options?: Parameters<Client['trigger']>[1]): RunPromise<CommandResult> {
    return this.#makeRun(id, async () => {
      const { payload, ...command } = checkedTrigger(options)
      const body = payload === undefined ? undefined : { payload }
      return this.#command(path`/v1/jobs/${checkedId(id)}/trigger`, command, body)
    })
  }

  async pause(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#command(path`/v1/jobs/${checkedId(id)}/pause`, checkedCommand('pause', options))
  }

  async resume(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#command(path`/v1/jobs/${checkedId(id)}/resume`, checkedCommand('resume', options))
  }

  async cancel(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#command(path`/v1/jobs/${checkedId(id)}/cancel`, checkedCommand('cancel', options))
  }

  async cancelRun(id: string, runNo: number, options?: CommandOptions): Promise<CommandResult> {
    checkedRunNo('cancelRun', runNo)
    return this.#command(path`/v1/runs/${checkedId(id)}/${runNo}/cancel`, checkedCommand('cancelRun', options))
  }

  async retryRun(id: string, runNo: number, options?: CommandOptions): Promise<CommandResult> {
    checkedRunNo('retryRun', runNo)
    return this.#command(path`/v1/runs/${checkedId(id)}/${runNo}/retry`, checkedCommand('retryRun', options))
  }

  redrive(id: string, runNo: number, options?: CommandOptions): RunPromise<CommandResult> {
    return this.#makeRun(id, async () => {
      checkedRunNo('redrive', runNo)
      return this.#command(path`/v1/runs/${checkedId(id)}/${runNo}/redrive`, checkedCommand('redrive', options))
    })
  }

  redriveMany(filter: Parameters<Client['redriveMany']>[0] = {}): ReturnType<Client['redriveMany']> {
    return this.#ask('POST', '/v1/dead-letters/redrive', { body: filter })
  }

  async operate(request: OperationRequest, options?: CommandOptions): Promise<Operation> {
    const headers = keyHeaders(checkedCommand('operate', options))
    return this.#ask('POST', '/v1/operations', { body: withJsonPayload(request), headers })
  }

  async countOperation(request: OperationRequest): Promise<number> {
    return (await this.#ask<{ count: number }>('POST', '/v1/operations/count', { body: request })).count
  }

  async operation(id: string): Promise<Operation | undefined> {
    return this.#find(path`/v1/operations/${checkedName('operation', id)}`)
  }

  async operations(filter: Parameters<Client['operations']>[0] = {}): Promise<Operation[]> {
    return (await this.#ask<{ operations: Operation[] }>('GET', '/v1/operations', { query: { ...filter } })).operations
  }

  async cancelOperation(id: string): Promise<Operation> {
    return this.#ask('POST', path`/v1/operations/${checkedName('cancelOperation', id)}/cancel`, {})
  }

  async skipNext(id: string, options?: Parameters<Client['skipNext']>[1]): Promise<CommandResult> {
    const { at, ...command } = checkedSkip(options)
    return this.#command(path`/v1/jobs/${checkedId(id)}/skip`, command, { at })
  }

  async backfill(id: string, range: Parameters<Client['backfill']>[1], options?: CommandOptions): Promise<CommandResult> {
    return this.#command(path`/v1/jobs/${checkedId(id)}/backfill`, checkedCommand('backfill', options), range)
  }

  countBackfill(id: string, range: Parameters<Client['countBackfill']>[1]): ReturnType<Client['countBackfill']> {
    return this.#ask('POST', path`/v1/jobs/${checkedId(id)}/backfill/count`, { body: range })
  }

  async cancelBackfill(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#command(path`/v1/jobs/${checkedId(id)}/backfill/cancel`, checkedCommand('cancelBackfill', options))
  }

  deadLetters(filter: Parameters<Client['deadLetters']>[0] = {}): AsyncIterable<RunInfo> {
    return this.#pages('/v1/dead-letters', { ...filter }, 'runs')
  }

  async deadLetter(id: string, runNo: number): ReturnType<Client['deadLetter']> {
    checkedRunNo('deadLetter', runNo)
    return this.#find(path`/v1/dead-letters/${checkedId(id)}/${runNo}`)
  }

  async preview(schedule: Job['schedule'], options: Parameters<Client['preview']>[1] = {}): ReturnType<Client['preview']> {
    const body = { schedule, ...options }
    return (await this.#ask<{ fires: Awaited<ReturnType<Client['preview']>> }>('POST', '/v1/schedules/preview', { body })).fires
  }

  async plan(jobs: readonly Job[], options: Parameters<Client['plan']>[1] = {}): ReturnType<Client['plan']> {
    return this.#ask('POST', '/v1/jobs/plan', { body: { jobs: jobs.map((job) => withJsonPayload(job)), ...options } })
  }

  forecast({ from, ...range }: Parameters<Client['forecast']>[0] = {}): ReturnType<Client['forecast']> {
    return this.#ask('GET', '/v1/forecast', { query: { ...range, from: timeText(from) } })
  }

  dueJobs({ from, ...range }: Parameters<Client['dueJobs']>[0]): ReturnType<Client['dueJobs']> {
    return this.#ask('GET', '/v1/forecast/jobs', { query: { ...range, from: timeText(from) } })
  }

  async workers(): ReturnType<Client['workers']> {
    return (await this.#read<{ workers: Awaited<ReturnType<Client['workers']>> }>('/v1/workers')).workers
  }

  async pauseWorker(worker: string): ReturnType<Client['pauseWorker']> {
    return this.#command(path`/v1/workers/${checkedName('pauseWorker', worker)}/pause`)
  }

  async drainWorker(worker: string): ReturnType<Client['drainWorker']> {
    return this.#command(path`/v1/workers/${checkedName('drainWorker', worker)}/drain`)
  }

  async resumeWorker(worker: string): ReturnType<Client['resumeWorker']> {
    return this.#command(path`/v1/workers/${checkedName('resumeWorker', worker)}/resume`)
  }

  async limits(): ReturnType<Client['limits']> {
    return (await this.#read<{ limits: Awaited<ReturnType<Client['limits']>> }>('/v1/limits')).limits
  }

  async pools(): ReturnType<Client['pools']> {
    return (await this.#read<{ pools: Awaited<ReturnType<Client['pools']>> }>('/v1/pools')).pools
  }

  async pausePool(pool: string): ReturnType<Client['pausePool']> {
    return this.#command(path`/v1/pools/${checkedName('pausePool', pool)}/pause`)
  }

  async drainPool(pool: string): ReturnType<Client['drainPool']> {
    return this.#command(path`/v1/pools/${checkedName('drainPool', pool)}/drain`)
  }

  async resumePool(pool: string): ReturnType<Client['resumePool']> {
    return this.#command(path`/v1/pools/${checkedName('resumePool', pool)}/resume`)
  }

  async partitions(): ReturnType<Client['partitions']> {
    return (await this.#read<{ partitions: Awaited<ReturnType<Client['partitions']>> }>('/v1/partitions')).partitions
  }

  series(range: Parameters<Client['series']>[0] = 'day'): ReturnType<Client['series']> {
    return this.#read(`/v1/series?range=${range}`)
  }

  proof(): ReturnType<Client['proof']> {
    return this.#read('/v1/proof')
  }

  audit({ from, to, ...filter }: Parameters<Client['audit']>[0] = {}): ReturnType<Client['audit']> {
    return this.#pages('/v1/audit', { ...filter, from: timeText(from), to: timeText(to) }, 'records')
  }

  records(...jobs: Parameters<JobRecords['records']>): ReturnType<JobRecords['records']> {
    return this.#withKafka('records').records(...jobs)
  }

  deletionRecords(...ids: string[]): ReturnType<JobRecords['deletionRecords']> {
    return this.#withKafka('deletionRecords').deletionRecords(...ids)
  }

  async close(): Promise<void> {
    this.#closed.abort(closedError())
    await Promise.allSettled([...this.#open])
    await this.#kafka?.close()
  }

  #withKafka(method: string): KafkaClient {
    if (this.#kafka !== undefined) return this.#kafka
    throw new DuelogError(
      'bad-config',
      `client.${method} needs the schemas of the registry; give createClient the option brokers too`,
    )
  }

  #makeRun(id: string, command: () => Promise<CommandResult>): RunPromise<CommandResult> {
    return runPromise(command(), this.#awaitRun, ({ commandId, applied, runId, reason }) => {
      if (applied && runId === null)
        throw new RunFailedError(`No run was made of job ${JSON.stringify(id)}: ${reason ?? 'see its why'}`)
      return [id, { commandId }]
    })
  }

  async #command<Answer = CommandResult>(route: string, options: CommandOptions = {}, given?: object): Promise<Answer> {
    const body = given && withJsonPayload(given)
    return this.#ask('POST', route, { body, headers: keyHeaders(options) })
  }

  #read<Answer>(route: string): Promise<Answer> {
    return this.#ask('GET', route, {})
  }

  /** Undefined for `not-found`. */
  async #find<Answer>(route: string): Promise<Answer | undefined> {
    try {
      return await this.#read<Answer>(route)
    } catch (error) {
      if (error instanceof DuelogError && error.code === 'not-found') return undefined
      throw error
    }
  }

  async *#pages<Item>(route: string, query: Request['query'], field: string): AsyncGenerator<Item> {
    const read = <Answer>(of: Request['query']): Promise<Answer> => this.#ask('GET', route, { query: of })
    for await (const page of pages<Item>(read, { ...query, limit: pageSize }, field)) yield* page
  }

  #ask<Answer>(method: string, route: string, request: Request): Promise<Answer> {
    return this.#during(() => this.#api.ask<Answer>(method, route, request))
  }

  /** `close` waits for the work. */
  async #during<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.#closed.signal.throwIfAborted()
    const done = work()
    this.#open.add(done)
    try {
      return await done
    } finally {
      this.#open.delete(done)
    }
  }
}

function scheduledOf({ id, etag, partition, offset, applied, status, reason, warnings = [] }: WrittenAnswer): Scheduled {
  const state = { ...(status !== undefined && { status }), ...(reason !== undefined && { reason }) }
  return { id, etag, partition, offset, applied, ...state, warnings }
}

const keyHeaders = ({ idempotencyKey }: CommandOptions): Record<string, string> =>
  idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }

function conditionHeaders({
  ifMatch,
  ifAbsent,
}: {
  ifMatch?: string | undefined
  ifAbsent?: boolean | undefined
}): Record<string, string> {
  return { ...(ifMatch !== undefined && { 'if-match': ifMatch }), ...(ifAbsent === true && { 'if-none-match': '*' }) }
}

const timeText = (time: string | number | undefined): string | undefined => (time === undefined ? undefined : String(time))

const closedError = (): DuelogError => new DuelogError('bad-request', 'the client is closed; create another one')
