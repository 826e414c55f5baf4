/**
 * The client of a test system: the calls of `createClient`, answered by the owners of the simulated cluster. Each resolves once everything
 * that is due at this instant has happened.
 */
import type { JobCommandInput, JobCommandType } from '../../schemas/index.ts'
import { completeCommand, readPayload, validateCommand } from '../../streams/definitions/index.ts'
import type { Problem } from '../../streams/text/index.ts'
import { partitionOf } from '../../streams/topics/index.ts'
import type { CommandResult, JobExplanation } from '../answers/index.ts'
import {
  type AnyPayloads,
  type AwaitedRunOf,
  type Client,
  type CommandOptions,
  checkedCommand,
  checkedDelete,
  checkedFilter,
  checkedId,
  checkedRunOf,
  checkedSchedule,
  checkedTrigger,
  checkedWait,
  createKafkaClient,
  type JobFor,
  type JobInfo,
  type KafkaClient,
  type PayloadChecker,
  RunFailedError,
  type RunInfo,
  type RunPromise,
  runPromise,
  type Scheduled,
  type ScheduledMany,
  type ScheduleOptions,
  type WaitOptions,
} from '../client/index.ts'
import { callOptions, DuelogError } from '../errors/index.ts'
import { type JobView, jobEtag, type LogWriter, type PartitionQueries } from '../ports/index.ts'
import { activeRunAnswer, conflict, endedRunAnswer, jobAnswer, notFound, refusal } from './api-answers.ts'
import type { Driver } from './driver.ts'
import type { HandlerCalls } from './handler-calls.ts'
import { isoTime, sinceOf, timeOf } from './json-values.ts'
import { codecs, names, type Processes } from './processes.ts'
import type { RunHistory } from './run-history.ts'

/** What a test system has in common with a client of `createClient({ url })`. */
export type ClientCalls<Payloads extends object> = Pick<
  Client<Payloads>,
  | ('schedule' | 'scheduleMany' | 'delete' | 'get' | 'list' | 'runs' | 'run' | 'awaitRun' | 'why')
  | ('trigger' | 'pause' | 'resume' | 'cancel' | 'cancelRun' | 'redrive' | 'backfill' | 'close')
>

/** How long an owner may take to apply a record, in virtual ms. It takes less, unless it has just crashed. */
const appliedWaitMs = 300_000
const listPageSize = 500

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
  readonly #kafka: KafkaClient
  readonly #writer: () => Promise<LogWriter>
  #commands = 0

  constructor(parts: TestClientParts) {
    this.#parts = parts
    const { processes, partitions, checker } = parts
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

  async #schedule(job: JobFor<AnyPayloads>, options: ScheduleOptions | undefined): Promise<Scheduled> {
    const { ifMatch, ifAbsent } = checkedSchedule(options)
    const condition = { ...(ifMatch !== undefined && { ifMatch }), ...(ifAbsent !== undefined && { ifAbsent }) }
    const scheduled = await this.#kafka.schedule(job, condition)
    const { partition, offset } = scheduled
    await this.#applied(partition, { jobs: offset })
    const inForce = await this.#owner.job(partition, scheduled.id)
    if (inForce?.offset !== offset && (ifMatch !== undefined || ifAbsent === true)) throw conflict(scheduled.id, inForce)
    if (inForce?.offset !== offset) return { ...scheduled, applied: true }
    const { status, reason } = inForce
    return { ...scheduled, applied: true, status, ...(status === 'INVALID' && reason !== null && { reason }) }
  }

  scheduleMany(
    jobs: Parameters<Client['scheduleMany']>[0],
    options?: Parameters<Client['scheduleMany']>[1],
  ): Promise<ScheduledMany> {
    return this.#after(() => this.#kafka.scheduleMany(jobs, options))
  }

  delete(id: string, options?: { ifMatch?: string }): Promise<void> {
    return this.#after(async () => {
      const { ifMatch } = checkedDelete(options)
      const job = await this.#existing(id)
      if (ifMatch !== undefined && ifMatch !== jobEtag(job)) throw conflict(id, job)
      const { partition, offset } = await this.#kafka.delete(id)
      await this.#applied(partition, { jobs: offset })
    })
  }

  get(id: string): Promise<JobInfo | undefined> {
    return this.#after(async () => {
      const job = await this.#owner.job(this.partitionOf(id), id)
      return job === undefined ? undefined : jobAnswer(job, this.#parts.driver.nowMs)
    })
  }

  async *list(options?: Parameters<Client['list']>[0]): AsyncGenerator<JobInfo> {
    const { dueBefore, ...filter } = checkedFilter(options)
    const dueBeforeMs = dueBefore === undefined ? undefined : timeOf(dueBefore, this.#parts.zone, 'dueBefore of list')
    const jobs = await this.#after(() => this.#list({ ...filter, ...(dueBeforeMs !== undefined && { dueBefore: dueBeforeMs }) }))
    for (const job of jobs.sort((a, b) => (a.id < b.id ? -1 : 1))) yield jobAnswer(job, this.#parts.driver.nowMs)
  }

  async #list(filter: Parameters<PartitionQueries['list']>[1]): Promise<JobView[]> {
    const found: JobView[] = []
    for (let partition = 0; partition < this.#parts.partitions; partition++) {
      let after: string | undefined
      do {
        const page = await this.#owner.list(partition, filter, listPageSize, after)
        found.push(...page.jobs)
        after = page.next
      } while (after !== undefined)
    }
    return found
  }

  /** Active runs, then all that have ended, newest first. */
  runs(id: string): Promise<RunInfo[]> {
    return this.#after(() => this.#runs(id))
  }

  run(id: string, runNo: number): Promise<RunInfo | undefined> {
    return this.#after(async () => (await this.#runs(id)).find((run) => run.runNo === runNo))
  }

  awaitRun(id: string, which: AwaitedRunOf, options?: WaitOptions): Promise<RunInfo> {
    const sleep = this.#parts.calls.sleeping()
    return this.#after(() => this.#awaitRun(id, which, options), Number.POSITIVE_INFINITY).finally(() => sleep.wake())
  }

  async #awaitRun(id: string, of: AwaitedRunOf, options: WaitOptions | undefined): Promise<RunInfo> {
    const { timeoutMs, signal } = checkedWait(options)
    const partition = this.partitionOf(id)
    const which = checkedRunOf(of)
    const awaited = 'etag' in which ? sinceOf(which.etag, partition) : which
    signal?.throwIfAborted()
    const end = await this.#owner.ended(partition, id, awaited, timeoutMs, { caller: 'test', signal })
    signal?.throwIfAborted()
    if (end === null)
      throw new DuelogError(
        'wait-timeout',
        `A run of job ${JSON.stringify(id)} has not ended within ${timeoutMs} ms of virtual time.`,
      )
    if (end.run === null) throw new RunFailedError(end.reason ?? `There is no such run of job ${JSON.stringify(id)}.`)
    return endedRunAnswer(id, end.run)
  }

  why(id: string): Promise<JobExplanation> {
    return this.#after(async () => {
      const why = await this.#owner.why(this.partitionOf(id), id)
      if (why === undefined) throw notFound(id)
      const reasons = why.reasons.map(({ at, ...reason }) => ({ ...reason, at: at === null ? null : isoTime(at) }))
      return { id, status: why.status, why: reasons }
    })
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

  cancelRun(id: string, runNo: number, options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () => this.#command(id, 'CANCEL_RUN', { runNo }, checkedCommand('cancelRun', options)))
  }

  redrive(id: string, runNo: number, options?: CommandOptions): RunPromise<CommandResult> {
    return this.#makingRun(id, async () => this.#command(id, 'REDRIVE', { runNo }, checkedCommand('redrive', options)))
  }

  backfill(id: string, range: Parameters<Client['backfill']>[1], options?: CommandOptions): Promise<CommandResult> {
    return this.#after(async () => {
      const { zone } = this.#parts
      const given = callOptions('backfill', range, { from: true, to: true })
      const [from, to] = [timeOf(given.from, zone, 'from of backfill'), timeOf(given.to, zone, 'to of backfill')]
      return this.#command(id, 'BACKFILL', { from, to }, checkedCommand('backfill', options))
    })
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
    await this.#existing(id)
    const commandId = idempotencyKey === undefined ? `test-${++this.#commands}` : `${type} ${more.runNo ?? ''} ${idempotencyKey}`
    const command = completeCommand({ type, commandId, at: this.#parts.driver.nowMs, ...more })
    const problems = validateCommand(command)
    if (problems.length > 0) throw refusal(problems)
    const writer = await this.#writer()
    const written = await writer.write([{ topic: names.commands, ofJob: true, key: id, value: codecs().command.encode(command) }])
    const partition = this.partitionOf(id)
    await this.#applied(partition, { commands: [...written.values()][0] ?? 0 })
    const [job, why] = await Promise.all([this.#owner.job(partition, id), this.#owner.why(partition, id)])
    if (job === undefined) throw notFound(id)
    const refused = why?.reasons.find((reason) => reason.commandId === commandId)
    if (refused !== undefined)
      throw new DuelogError('command-refused', `${type} of job ${JSON.stringify(id)} was not carried out. ${refused.text}`)
    const made = [...job.active, ...this.#parts.history.ended(id)].find((run) => run.commandId === commandId)
    const runId = made === undefined ? null : `${id}/${made.runNo}`
    return { commandId, applied: true, runId, reason: job.reason, status: job.status }
  }

  /** What a call does once the system runs, and then all that is due. */
  async #after<Result>(work: () => Promise<Result>, patienceMs?: number): Promise<Result> {
    await this.#parts.started()
    return this.#parts.driver.during(work(), patienceMs)
  }

  async #applied(partition: number, offsets: { jobs?: number; commands?: number }): Promise<void> {
    if (await this.#owner.applied(partition, offsets, appliedWaitMs)) return
    throw new DuelogError('not-ready', `The owner of partition ${partition} has not applied the record.`)
  }

  async #runs(id: string): Promise<RunInfo[]> {
    const known = await this.#owner.runs(this.partitionOf(id), id)
    const ended = this.#parts.history.ended(id)
    if (known === undefined && ended.length === 0) throw notFound(id)
    const active = (known?.active ?? []).map((run) => activeRunAnswer(id, run))
    return [...active.reverse(), ...ended.reverse().map((run) => endedRunAnswer(id, run))]
  }

  async #existing(id: string): Promise<JobView> {
    const job = await this.#owner.job(this.partitionOf(id), id)
    if (job === undefined) throw notFound(id)
    return job
  }

  get #owner(): PartitionQueries {
    return this.#parts.processes.queries
  }

  /** Throws `bad-job-id`. */
  protected partitionOf(id: string): number {
    checkedId(id)
    return partitionOf(id, this.#parts.partitions)
  }
}
