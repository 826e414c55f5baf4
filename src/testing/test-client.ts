/**
 * The client of a test system: the calls of `createClient`, answered by the owners of the simulated cluster. Each resolves once everything
 * that is due at this instant has happened.
 */
import { createHash } from 'node:crypto'
import type { JobCommandInput, JobCommandType } from '../../schemas/index.ts'
import { completeCommand, readPayload, validateCommand } from '../../streams/definitions/index.ts'
import { commandNoun, type Problem, writeJson } from '../../streams/text/index.ts'
import type { CommandResult, JobExplanation, RunLeft } from '../answers/index.ts'
import {
  type AnyPayloads,
  type AwaitedRunOf,
  type CallOptions,
  type Client,
  type CommandOptions,
  checkedCall,
  checkedCommand,
  checkedDelete,
  checkedFilter,
  checkedRunNo,
  checkedSchedule,
  checkedSkip,
  checkedTrigger,
  createKafkaClient,
  type Job,
  type JobFor,
  type JobInfo,
  type KafkaClient,
  type PayloadChecker,
  type RunInfo,
  type RunPromise,
  runPromise,
  type Scheduled,
  type ScheduledMany,
  type ScheduleOptions,
  type WaitOptions,
} from '../client/index.ts'
import { callOptions, DuelogError } from '../errors/index.ts'
import { jobEtag, type LogWriter } from '../ports/index.ts'
import { conflict, jobAnswer, refusal } from './api-answers.ts'
import { backfillCountOf } from './backfill-count.ts'
import { DeadLetters } from './dead-letters.ts'
import type { Driver } from './driver.ts'
import type { HandlerCalls } from './handler-calls.ts'
import { JobReads } from './job-reads.ts'
import { timeOf } from './json-values.ts'
import { codecs, names, type Processes } from './processes.ts'
import type { RunHistory } from './run-history.ts'

/** What a test system has in common with a client of `createClient({ url })`. */
export type ClientCalls<Payloads extends object> = Pick<
  Client<Payloads>,
  | ('call' | 'schedule' | 'scheduleMany' | 'delete' | 'get' | 'list' | 'runs' | 'run' | 'awaitRun' | 'why')
  | (
      | 'trigger'
      | 'pause'
      | 'resume'
      | 'cancel'
      | 'cancelRun'
      | 'redrive'
      | 'redriveMany'
      | 'deadLetters'
      | 'deadLetter'
      | 'backfill'
      | 'countBackfill'
      | 'cancelBackfill'
      | 'skipNext'
    )
  | 'close'
>

export interface TestClientParts {
  driver: Driver
  calls: HandlerCalls
  processes: Processes
  history: RunHistory
  partitions: number
  /** Of payloads. Absent: they are not checked. */
  checker: PayloadChecker | undefined
  zone: string | undefined
  /** Resolves when the system runs. */
  started: () => Promise<void>
}

export class TestClient implements ClientCalls<AnyPayloads> {
  readonly #parts: TestClientParts
  readonly #reads: JobReads
  readonly #deadLetters: DeadLetters
  readonly #kafka: KafkaClient
  readonly #writer: () => Promise<LogWriter>
  #commands = 0
  #calls = 0

  constructor(parts: TestClientParts) {
    this.#parts = parts
    const { driver, processes, history, partitions, checker } = parts
    const reads = { driver, owner: processes.owner, history, partitions }
    this.#reads = new JobReads(reads)
    this.#deadLetters = new DeadLetters(reads)
    const { log } = processes.machine('client')
    let writer: Promise<LogWriter> | undefined
    this.#writer = () => {
      writer ??= log.writer()
      return writer
    }
    this.#kafka = createKafkaClient(async () => {
      return { writer: await this.#writer(), definition: codecs().definition, topic: names.jobs, partitions, checker }
    })
  }

  schedule(job: JobFor<AnyPayloads>, options?: ScheduleOptions): RunPromise<Scheduled> {
    return runPromise(
      this.#after(() => this.#schedule(job, options)),
      (...asked) => this.awaitRun(...asked),
      ({ id, etag }) => [id, { etag }],
    )
  }

  call(handler: string, payload: unknown, options?: CallOptions): RunPromise<Scheduled> {
    return runPromise(
      this.#after(async () => {
        const { job, command } = checkedCall(handler, payload, options)
        const { idempotencyKey: key } = command
        const id =
          key === undefined
            ? `call-${++this.#calls}`
            : `call-${createHash('sha256')
                .update(writeJson([key, job]))
                .digest('hex')}`
        const known = key === undefined ? undefined : await this.#reads.job(id)
        if (known === undefined) return this.#schedule({ ...job, id } as JobFor<AnyPayloads>, undefined)
        return { id, etag: jobEtag(known), partition: known.partition, offset: known.offset, applied: true, warnings: [] }
      }),
      (...asked) => this.awaitRun(...asked),
      ({ id, etag }) => [id, { etag }],
    )
  }

  async #schedule(job: JobFor<AnyPayloads>, options: ScheduleOptions | undefined): Promise<Scheduled> {
    const { ifMatch, ifAbsent } = checkedSchedule(options)
    const condition = { ...(ifMatch !== undefined && { ifMatch }), ...(ifAbsent !== undefined && { ifAbsent }) }
    const scheduled = await this.#kafka.schedule(job, condition)
    const { partition, offset } = scheduled
    await this.#reads.applied(partition, { jobs: offset })
    const inForce = await this.#reads.job(scheduled.id)
    if (inForce?.offset !== offset && (ifMatch !== undefined || ifAbsent === true)) throw conflict(scheduled.id, inForce)
    if (inForce?.offset !== offset) return { ...scheduled, applied: true }
    const { status, reason } = inForce
    return { ...scheduled, applied: true, status, ...(status === 'INVALID' && reason !== null && { reason }) }
  }

  scheduleMany(
    jobs: Iterable<Job> | AsyncIterable<Job>,
    options?: Parameters<Client['scheduleMany']>[1],
  ): Promise<ScheduledMany> {
    return this.#after(() => this.#kafka.scheduleMany(jobs, options))
  }

  delete(id: string, options?: { ifMatch?: string }): Promise<void> {
    return this.#after(async () => {
      const { ifMatch } = checkedDelete(options)
      const job = await this.#reads.existing(id)
      if (ifMatch !== undefined && ifMatch !== jobEtag(job)) throw conflict(id, job)
      const { partition, offset } = await this.#kafka.delete(id)
      await this.#reads.applied(partition, { jobs: offset })
    })
  }

  get(id: string): Promise<JobInfo | undefined> {
    return this.#after(async () => {
      const job = await this.#reads.job(id)
      return job === undefined ? undefined : jobAnswer(job, this.#parts.driver.nowMs)
    })
  }

  async *list(options?: Parameters<Client['list']>[0]): AsyncGenerator<JobInfo> {
    const { dueBefore, ...filter } = checkedFilter(options)
    const dueBeforeMs = dueBefore === undefined ? undefined : timeOf(dueBefore, this.#parts.zone, 'dueBefore of list')
    const jobs = await this.#after(() =>
      this.#reads.list({ ...filter, ...(dueBeforeMs !== undefined && { dueBefore: dueBeforeMs }) }),
    )
    for (const job of jobs.sort((a, b) => (a.id < b.id ? -1 : 1))) yield jobAnswer(job, this.#parts.driver.nowMs)
  }

  /** Active runs, then all that have ended, newest first. */
  runs(id: string): Promise<RunInfo[]> {
    return this.#after(() => this.#reads.runs(id))
  }

  run(id: string, runNo: number): Promise<RunInfo | undefined> {
    return this.#after(async () => {
      checkedRunNo('run', runNo)
      return (await this.#reads.runs(id)).find((run) => run.runNo === runNo)
    })
  }

  awaitRun(id: string, which: AwaitedRunOf, options?: WaitOptions): Promise<RunInfo> {
    const sleep = this.#parts.calls.sleeping()
    return this.#after(() => this.#reads.awaitRun(id, which, options), Number.POSITIVE_INFINITY).finally(() => sleep.wake())
  }

  why(id: string): Promise<JobExplanation> {
    return this.#after(() => this.#reads.why(id))
  }

  trigger(id: string, given?: CommandOptions & { payload?: unknown }): RunPromise<CommandResult> {
    return this.#makingRun(id, async () => {
      const { payload, ...options } = checkedTrigger(given)
      if (payload === undefined) return this.#command(id, 'TRIGGER', {}, options)
      const problems: Problem[] = []
      const read = readPayload({ payload }, problems)
      if (problems.length > 0) throw refusal(problems)
      return this.#command(id, 'TRIGGER', { payload: read.payload as Buffer | null }, options)
    })
  }

  pause(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () => this.#command(id, 'PAUSE', {}, checkedCommand('pause', options)))
  }

  resume(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () => this.#command(id, 'RESUME', {}, checkedCommand('resume', options)))
  }

  cancel(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () => this.#command(id, 'CANCEL', {}, checkedCommand('cancel', options)))
  }

  skipNext(id: string, options?: Parameters<Client['skipNext']>[1]): Promise<CommandResult> {
    return this.#after(async () => {
      const { at, ...command } = checkedSkip(options)
      const { nextFireAt } = await this.#reads.existing(id)
      const from = at === undefined ? nextFireAt : timeOf(at, this.#parts.zone, 'at of skipNext')
      if (from === null) throw new DuelogError('command-refused', `Job ${JSON.stringify(id)} has no next occurrence.`)
      return this.#command(id, 'CANCEL_RUN', { from }, command)
    })
  }

  cancelRun(id: string, runNo: number, options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () => {
      checkedRunNo('cancelRun', runNo)
      return this.#command(id, 'CANCEL_RUN', { runNo }, checkedCommand('cancelRun', options))
    })
  }

  redrive(id: string, runNo: number, options?: CommandOptions): RunPromise<CommandResult> {
    return this.#makingRun(id, async () => {
      checkedRunNo('redrive', runNo)
      return this.#command(id, 'REDRIVE', { runNo }, checkedCommand('redrive', options))
    })
  }

  redriveMany(filter?: Parameters<Client['redriveMany']>[0]): ReturnType<Client['redriveMany']> {
    return this.#after(async () => {
      const { runs, more } = await this.#deadLetters.toRedrive(filter)
      const runIds: string[] = []
      const left: RunLeft[] = []
      for (const { jobId, runNo, runId } of runs) {
        try {
          await this.#command(jobId, 'REDRIVE', { runNo }, {})
          runIds.push(runId)
        } catch (error) {
          if (!(error instanceof DuelogError) || error.code !== 'command-refused') throw error
          left.push({ runId, detail: error.message })
        }
      }
      return { runIds, left, more }
    })
  }

  async *deadLetters(filter?: Parameters<Client['deadLetters']>[0]): AsyncGenerator<RunInfo> {
    yield* await this.#after(() => this.#deadLetters.list(filter))
  }

  deadLetter(id: string, runNo: number): ReturnType<Client['deadLetter']> {
    return this.#after(async () => {
      checkedRunNo('deadLetter', runNo)
      return this.#deadLetters.of(id, runNo)
    })
  }

  backfill(id: string, range: Parameters<Client['backfill']>[1], options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () =>
      this.#command(id, 'BACKFILL', this.#rangeOf('backfill', range), checkedCommand('backfill', options)),
    )
  }

  countBackfill(id: string, range: Parameters<Client['countBackfill']>[1]): ReturnType<Client['countBackfill']> {
    return this.#after(async () => {
      const job = await this.#reads.existing(id)
      return backfillCountOf(job, this.#rangeOf('countBackfill', range), this.#parts.driver.nowMs)
    })
  }

  cancelBackfill(id: string, options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () => this.#command(id, 'BACKFILL', { discard: true }, checkedCommand('cancelBackfill', options)))
  }

  #rangeOf(call: string, range: Parameters<Client['backfill']>[1]): { from: number; to: number } {
    const { zone } = this.#parts
    const given = callOptions(call, range, { from: true, to: true })
    return { from: timeOf(given.from, zone, `from of ${call}`), to: timeOf(given.to, zone, `to of ${call}`) }
  }

  /** There is nothing to close: a test system holds no connection, file or timer of Node. */
  async close(): Promise<void> {}

  #makingRun(id: string, command: () => Promise<CommandResult>): RunPromise<CommandResult> {
    return runPromise(
      this.#after(command),
      (...asked) => this.awaitRun(...asked),
      ({ commandId }) => [id, { commandId }],
    )
  }

  async #command(id: string, type: JobCommandType, more: Partial<JobCommandInput>, { idempotencyKey }: CommandOptions) {
    await this.#reads.existing(id)
    const commandId = idempotencyKey === undefined ? `test-${++this.#commands}` : `${type} ${more.runNo ?? ''} ${idempotencyKey}`
    const command = completeCommand({ type, commandId, at: this.#parts.driver.nowMs, ...more })
    const problems = validateCommand(command)
    if (problems.length > 0) throw refusal(problems)
    const writer = await this.#writer()
    const written = await writer.write([{ topic: names.commands, ofJob: true, key: id, value: codecs().command.encode(command) }])
    const partition = this.partitionOf(id)
    await this.#reads.applied(partition, { commands: [...written.values()][0] ?? 0 })
    const [job, { why }] = await Promise.all([this.#reads.existing(id), this.#reads.why(id)])
    const refused = why.find((reason) => reason.commandId === commandId)
    if (refused !== undefined)
      throw new DuelogError(
        'command-refused',
        `The ${commandNoun(command)} of job ${JSON.stringify(id)} was not carried out. ${refused.text}`,
      )
    const made = [...job.active, ...this.#parts.history.ended(id)].find((run) => run.commandId === commandId)
    const runId = made === undefined ? null : `${id}/${made.runNo}`
    return { commandId, applied: true, runId, reason: job.reason, status: job.status }
  }

  /** What a call does once the system runs, and then all that is due. */
  async #after<Result>(work: () => Promise<Result>, patienceMs?: number): Promise<Result> {
    await this.#parts.started()
    return this.#parts.driver.during(work(), patienceMs)
  }

  /** Throws `bad-job-id`. */
  protected partitionOf(id: string): number {
    return this.#reads.partitionOf(id)
  }
}
