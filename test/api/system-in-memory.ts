/** A log and an owner in memory behind a real API, so that tests can inject requests and see their effects. */

import { pino } from 'pino'
import type { AuditEvent, Execution, FinishedRun, JobCommand, JobDefinition } from '../../schemas/generated.ts'
import { DuelogError } from '../../src/ground/errors/errors.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { Codec, LogWriter, RecordOut } from '../../src/ground/ports/log.ts'
import type { Announced, Changes, TargetQuery, Targets } from '../../src/ground/ports/operations.ts'
import type {
  ActiveRunView,
  AwaitedRun,
  Heartbeat,
  JobQueries,
  JobView,
  PartitionQueries,
  RunEnd,
} from '../../src/ground/ports/owner-queries.ts'
import type {
  Asker,
  DeadRun,
  DeadRuns,
  DeadRunsQuery,
  DueCounts,
  DueJobs,
  DueRange,
  JobFilter,
  LimitUse,
  PartitionView,
  StoredJob,
  WorkerRuns,
} from '../../src/ground/ports/owner-views.ts'
import { byDeath, ownerProblem } from '../../src/ground/records/owners.ts'
import { type Api, type ApiOptions, createApi } from '../../src/server/api/api.ts'
import { type AuditTrail, matcherOf } from '../../src/server/api/audit-trail/audit-trail.ts'
import { decodeInternalJson, encodeInternalJson } from '../../src/server/peers/calls.ts'
import type { OwnerDirectory } from '../../src/server/peers/owner-directory.ts'
import { completeDefinition } from '../../streams/definitions/definition-json.ts'
import type { Reason } from '../../streams/jobs/reasons.ts'
import { noTarget } from '../../streams/runs/dispatch.ts'
import { holds, onlyOverOf } from '../../streams/state/condition.ts'
import { partitionOf, topicNames } from '../../streams/topics/topics.ts'
import { attemptError } from '../tools/attempt-error.ts'

export const nowMs = Date.UTC(2030, 0, 1)
export const names = topicNames('test.')

/** Not the wire format, but the exact bytes. */
export function memoryCodec<Value, Input>(): Codec<Value, Input> {
  return {
    encode: (value) => Buffer.from(encodeInternalJson(value)),
    decode: (bytes) => decodeInternalJson(bytes.toString()) as Value,
  }
}
export const codecs: ApiOptions['codecs'] = { definition: memoryCodec(), command: memoryCodec(), audit: memoryCodec() }

export class MemoryLog implements LogWriter {
  readonly written: RecordOut[] = []
  /** Records of the audit trail. They do not count as writes. */
  readonly audited: RecordOut[] = []
  /** Sizes of the writes, in order. */
  readonly calls: number[] = []
  /** Each write waits for the promise that this returns. */
  hold: () => Promise<void> | void = () => {}
  onRecord: (record: RecordOut & { partition: number }, offset: number) => void = () => {}
  readonly #next = new Map<string, number>()

  async write(records: RecordOut[]): Promise<Map<string, number>> {
    if (records.every(({ topic }) => topic === names.audit)) {
      this.audited.push(...records)
      return new Map(records.map(({ topic, partition }) => [`${topic}/${partition}`, this.audited.length]))
    }
    this.calls.push(records.length)
    await this.hold()
    const bases = new Map<string, number>()
    for (const record of records) {
      const partition = record.partition ?? 0
      const place = `${record.topic}/${partition}`
      const offset = this.#next.get(place) ?? 0
      this.#next.set(place, offset + 1)
      if (!bases.has(place)) bases.set(place, offset)
      this.written.push(record)
      this.onRecord({ ...record, partition }, offset)
    }
    return bases
  }
  async close(): Promise<void> {}
}

/** Owns all partitions. It applies every record at once, unless told otherwise. */
export class MemoryOwner implements PartitionQueries {
  readonly jobs = new Map<string, JobView>()
  readonly finished = new Map<string, FinishedRun[]>()
  readonly reasons = new Map<string, Reason[]>()
  readonly #applied = new Map<string, number>()
  readonly #partitions: number
  /** Partitions that do not answer. */
  readonly notReady = new Set<number>()
  /** False: records stay unapplied, and waits for them time out. */
  applies = true
  /** The reason why it decides nothing. */
  problem: string | undefined
  /** The reason why a definition makes its job INVALID; undefined: it does not. */
  invalid: (id: string) => string | undefined = () => undefined
  /** What else a definition makes of its job. */
  made: Partial<JobView> = {}
  /** The run that a trigger makes. */
  triggered: (job: JobView, command: JobCommand) => void = (job, command) => {
    job.runNo++
    job.active.push({ ...activeRun(job.runNo), commandId: command.commandId, trigger: 'MANUAL' })
  }

  constructor(partitions: number) {
    this.#partitions = partitions
  }

  apply(record: RecordOut & { partition: number }, offset: number): void {
    if (!this.applies) return
    const id = String(record.key)
    const inForce = this.jobs.get(id)
    const headers = Object.fromEntries(Object.entries(record.headers ?? {}).map(([name, value]) => [name, Buffer.from(value)]))
    const dropped = !holds(onlyOverOf(headers), inForce)
    if (record.topic === names.jobs && !dropped) {
      if (record.value === null) this.jobs.delete(id)
      else {
        const job = view(id, codecs.definition.decode(record.value) as JobDefinition, record.partition, offset)
        const reason = this.invalid(id)
        this.jobs.set(id, reason === undefined ? { ...job, ...this.made } : { ...job, status: 'INVALID', reason })
      }
    } else if (record.topic === names.commands && record.value !== null) {
      const job = this.jobs.get(id)
      const command = codecs.command.decode(record.value) as JobCommand
      if (job !== undefined && command.type === 'TRIGGER') this.triggered(job, command)
      else if (job !== undefined) job.status = command.type === 'PAUSE' ? 'PAUSED' : 'ACTIVE'
    }
    this.#applied.set(`${record.topic}/${record.partition}`, offset)
  }

  partitions(): PartitionView[] {
    return Array.from({ length: this.#partitions }, (_, partition) => ({
      partition,
      phase: this.notReady.has(partition) ? 'restoring' : 'active',
      ...{ restoreRemaining: 0, restoreTotal: 0, mailboxDepth: 0, overdueMs: 0 },
      ...{ jobsOffset: 0, commandsOffset: 0, eventsOffset: 0 },
      underWay: { dispatched: 0, running: 0, waiting: 0, withoutHandler: 0, inPausedPools: 0 },
      ...(this.problem !== undefined && { problem: this.problem }),
    }))
  }
  async job(partition: number, id: string): Promise<JobView | undefined> {
    this.#check(partition)
    return structuredCloneKeepingBuffers(this.jobs.get(id))
  }
  async why(partition: number, id: string) {
    this.#check(partition)
    const job = this.jobs.get(id)
    return job === undefined ? undefined : { status: job.status, reasons: this.reasons.get(id) ?? [] }
  }
  async list(partition: number, filter: JobFilter, limit: number, after?: string) {
    this.#check(partition)
    const found = [...this.jobs.values()]
      .filter((job) => job.partition === partition)
      .sort((left, right) => Buffer.compare(Buffer.from(left.id), Buffer.from(right.id)))
      .filter((job) => after === undefined || Buffer.compare(Buffer.from(job.id), Buffer.from(after)) > 0)
      .filter((job) => filter.status === undefined || job.status === filter.status)
      .filter((job) => filter.tag === undefined || job.definition?.tags.includes(filter.tag))
      .filter((job) => filter.handler === undefined || job.definition?.target.handler === filter.handler)
      .filter((job) => filter.idPrefix === undefined || job.id.startsWith(filter.idPrefix))
      .filter((job) => filter.idContains === undefined || job.id.includes(filter.idContains))
      .filter((job) => filter.runStatus === undefined || job.active.some(({ status }) => status === filter.runStatus))
      .filter((job) => filter.active !== true || job.active.length > 0)
      .filter((job) => filter.dead !== true || job.deadRuns.length > 0)
      .filter(
        (job) =>
          filter.dueBefore === undefined || (job.nextDueAt ?? job.nextFireAt ?? Number.POSITIVE_INFINITY) < filter.dueBefore,
      )
    const jobs = found.slice(0, limit)
    const next = found.length > limit ? jobs.at(-1)?.id : undefined
    return { jobs, looked: found.length, ...(next !== undefined && { next }) }
  }
  /** Life of all runs. */
  life = ''
  async runs(partition: number, id: string) {
    this.#check(partition)
    const job = this.jobs.get(id)
    return job === undefined ? undefined : { active: job.active, finished: this.finished.get(id) ?? [], life: this.life }
  }
  async deadRuns(partition: number, query: DeadRunsQuery): Promise<DeadRuns> {
    const { filter, limit, before } = query
    const { jobs } = await this.list(partition, { ...filter, dead: true }, Number.POSITIVE_INFINITY)
    const runs = jobs.flatMap(({ id, offset, definition, deadRuns }) =>
      deadRuns.flatMap((runNo): DeadRun[] => {
        const run = this.finished.get(id)?.find((finished) => finished.runNo === runNo)
        if (run === undefined) return []
        return [{ place: { at: run.finishedAt, jobId: id, runNo }, job: { offset, definition }, run }]
      }),
    )
    const behind = runs.filter(({ place }) => before === undefined || byDeath(before, place) < 0)
    behind.sort((a, b) => byDeath(a.place, b.place))
    return { runs: behind.slice(0, limit), isCut: behind.length > limit, count: runs.length, dropped: 0, kinds: [] }
  }
  /** The Executions of dead runs, by runId. */
  readonly executions = new Map<string, Execution>()
  async deadRun(partition: number, id: string, runNo: number): Promise<Execution | undefined> {
    this.#check(partition)
    return this.executions.get(`${id}/${runNo}`)
  }
  /** The inputs of other runs, by runId. */
  readonly inputs = new Map<string, Execution>()
  async runInput(partition: number, id: string, runNo: number): Promise<Execution | undefined> {
    this.#check(partition)
    return this.inputs.get(`${id}/${runNo}`) ?? this.executions.get(`${id}/${runNo}`)
  }
  async stored(partition: number, id: string): Promise<StoredJob | undefined> {
    this.#check(partition)
    const job = this.jobs.get(id)
    if (job === undefined) return undefined
    return { definition: { offset: job.offset, appendedAt: nowMs, ...(job.definition && { spec: job.definition }) } }
  }
  /** The forecast of every partition. */
  due: Partial<DueCounts> = {}
  /** What forecasts and lists of due jobs were asked for. */
  readonly dueRanges: object[] = []
  async forecast(partition: number, range: DueRange): Promise<DueCounts> {
    this.#check(partition)
    this.dueRanges.push(range)
    const { to } = range
    return { overdue: 0, next: [], later: [], until: to, jobs: 0, sampled: 0, cut: false, pools: [], ...this.due }
  }
  /** The jobs that are due in every partition. */
  dueList: DueJobs = { jobs: [], found: 0, complete: true }
  async dueJobs(partition: number, range: object, _asker?: Asker): Promise<DueJobs> {
    this.#check(partition)
    this.dueRanges.push(range)
    return this.dueList
  }
  /** The workers that the first partition has heard from. */
  heard: WorkerRuns[] = []
  /** What an operation finds in each partition. */
  found: Omit<Targets, 'cutOff'> = { targets: [], count: 0 }
  async targets(partition: number, { cutOff = { jobsOffset: 0, at: nowMs } }: TargetQuery): Promise<Targets> {
    this.#check(partition)
    return { ...this.found, cutOff }
  }
  async change(partition: number): Promise<Changes> {
    this.#check(partition)
    return { changed: 0, refused: [] }
  }
  async announce(partition: number): Promise<Announced> {
    this.#check(partition)
    return { cutOff: { jobsOffset: 0, at: 0 }, isActive: true, ahead: 0 }
  }
  /** The limits of the first partition. */
  limitUses: LimitUse[] = []
  async limits(partition: number): Promise<LimitUse[]> {
    this.#check(partition)
    return partition === 0 ? this.limitUses : []
  }
  async workers(partition: number): Promise<WorkerRuns[]> {
    this.#check(partition)
    return partition === 0 ? this.heard : []
  }
  async applied(partition: number, offsets: { jobs?: number; commands?: number }): Promise<boolean> {
    this.#check(partition)
    const reached = (topic: string, offset = -1): boolean => (this.#applied.get(`${topic}/${partition}`) ?? -1) >= offset
    return reached(names.jobs, offsets.jobs) && reached(names.commands, offsets.commands)
  }
  /** Ends of runs by job, which `end` gives to those that wait. */
  readonly #ends = new Map<string, RunEnd>()
  readonly #awaiting = new Set<() => void>()
  /** What was waited for, in order. */
  readonly awaited: { id: string; awaited: AwaitedRun; timeoutMs: number }[] = []
  /** Waits that were refused because the partition is not ready. */
  refusedEnds = 0
  /** True: the time of each wait is over at once. */
  neverEnds = false
  get waiting(): number {
    return this.#awaiting.size
  }
  async ended(partition: number, id: string, awaited: AwaitedRun, timeoutMs: number, asker?: Asker): Promise<RunEnd | null> {
    if (this.notReady.has(partition)) this.refusedEnds++
    this.#check(partition)
    this.awaited.push({ id, awaited, timeoutMs })
    for (;;) {
      const kept = 'runNo' in awaited ? this.finished.get(id)?.find(({ runNo }) => runNo === awaited.runNo) : undefined
      const end = this.#ends.get(id) ?? (kept && { run: kept, reason: null })
      if (end !== undefined) return end
      if (this.neverEnds || asker?.signal?.aborted) return null
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#awaiting.add(resolve)
      asker?.signal?.addEventListener('abort', () => resolve(), { once: true })
      await promise
      this.#awaiting.delete(resolve)
    }
  }
  end(id: string, end: RunEnd): void {
    this.#ends.set(id, end)
    for (const resolve of this.#awaiting) resolve()
  }
  /** The content of standby copies, and how many records they lack. */
  behindRecords: number | null = null
  readonly standbyReads: JobQueries = {
    job: async (_partition, id) => structuredCloneKeepingBuffers(this.jobs.get(id)),
    list: (partition, filter, limit, after) => this.#unchecked(() => this.list(partition, filter, limit, after)),
    why: (partition, id) => this.#unchecked(() => this.why(partition, id)),
    runs: (partition, id) => this.#unchecked(() => this.runs(partition, id)),
    deadRuns: (partition, query) => this.#unchecked(() => this.deadRuns(partition, query)),
    deadRun: (partition, id, runNo) => this.#unchecked(() => this.deadRun(partition, id, runNo)),
    runInput: (partition, id, runNo) => this.#unchecked(() => this.runInput(partition, id, runNo)),
  }
  /** The checks run before the first await. */
  #unchecked<Answer>(read: () => Promise<Answer>): Promise<Answer> {
    const checked = [...this.notReady]
    this.notReady.clear()
    const answer = read()
    for (const partition of checked) this.notReady.add(partition)
    return answer
  }
  #check(partition: number): void {
    if (this.notReady.has(partition)) throw new DuelogError('not-ready', `Partition ${partition} restores.`)
  }
}

export function view(id: string, definition: JobDefinition | undefined, partition: number, offset: number): JobView {
  return {
    ...{
      id,
      definition,
      partition,
      offset,
      status: 'ACTIVE',
      nextFireAt: definition?.schedule.at ?? null,
      nextDueAt: null,
      runNo: 0,
      deadRunsDropped: 0,
    },
    ...{ scheduledRuns: 0, succeeded: 0, failed: 0, skipped: 0, cancelled: 0, reason: null, active: [], lastRun: null },
    ...{ deadRuns: [], anchorAt: 0, backfill: null, followUpsWaiting: 0 },
  }
}

/** The Execution of a run, as its snapshot has it. */
export function execution(jobId: string, runNo: number, more: Partial<Execution> = {}): Execution {
  return {
    ...{ jobId, runNo, life: '', attempt: 2, specOffset: 17, handler: 'mail', pool: 'default' },
    ...{ priority: 'NORMAL', priorityLevel: null, trigger: 'SCHEDULE' },
    ...{ scheduledFor: nowMs, dueAt: nowMs, dispatchedAt: nowMs, startDeadlineAt: nowMs, attemptTimeoutMs: 1, leaseMs: 1 },
    ...{
      payload: null,
      contentType: null,
      headers: {},
      pinTo: null,
      ...noTarget,
      cause: null,
    },
    ...more,
  }
}

export function activeRun(runNo: number, heartbeat: Heartbeat | null = null): ActiveRunView {
  return {
    ...{ runNo, specOffset: 0, scheduledFor: nowMs, trigger: 'SCHEDULE', commandId: null, status: 'RUNNING', attempt: 1 },
    ...{
      releasedAttempts: 0,
      unstartedAttempts: 0,
      dueAt: nowMs,
      parked: false,
      tellAt: null,
      routedTo: null,
      handlerMissingAt: null,
      poolPausedAt: null,
      snapshot: false,
      snapshotRunNo: null,
      startDeadlineAt: nowMs,
      leaseMs: 1_000,
    },
    ...{ attemptTimeoutMs: 1_000, dispatchedAt: nowMs, startedAt: nowMs, worker: 'w@h:1:b', errors: [], heartbeat },
    ...{ waitsFor: null, limits: null, chainDepth: 0, chainLeft: 0 },
  } as ActiveRunView
}

export function finishedRun(runNo: number, result: unknown = null): FinishedRun {
  return {
    ...{ runNo, scheduledFor: nowMs, trigger: 'SCHEDULE', commandId: null, status: 'SUCCEEDED', attempts: 2, startedAt: nowMs },
    ...{ finishedAt: nowMs + 5, worker: 'w@h:1:b', result: result === null ? null : Buffer.from(JSON.stringify(result)) },
    ...{ unstartedAttempts: 0, specOffset: -1, dueAt: nowMs, dispatchedAt: nowMs, hasOwnInput: false, note: null, hiddenHash: 0 },
    errors: [attemptError({ attempt: 1, at: nowMs, type: 'Error', message: 'first' })],
  }
}

export const atNoon = { schedule: { at: '2031-01-01T12:00:00Z' }, target: { handler: 'noop' } }
export const atNoonDefinition = (): JobDefinition =>
  completeDefinition({ schedule: { at: Date.UTC(2031, 0, 1, 12) }, target: { handler: 'noop' } })

/** One worker in the pool default; the logs end at 3. */
export const memoryAdmin: ApiOptions['admin'] = {
  groups: async (prefix) => [`${prefix}default`],
  groupMembers: async () => [
    {
      ...{ memberId: 'm', instance: 'w@h:1:b', userData: { concurrency: 50, version: '0.1.0', handlers: ['noop'] } },
      assigned: [{ topic: names.executions('default', 'NORMAL'), partition: 0 }],
    },
  ],
  offsets: async () => [0, 1, 2, 3].map((partition) => ({ partition, earliest: 0, next: 3 })),
}

/** The audit records of the log in memory. */
function memoryTrail(log: MemoryLog): AuditTrail {
  return {
    async page(filter, limit, before) {
      const all = log.audited.map(({ value }, offset) => ({
        ...(codecs.audit.decode(value as Buffer) as AuditEvent),
        ...{ partition: 0, offset },
      }))
      const found = all
        .reverse()
        .filter((record) => before === undefined || record.offset < before.offset)
        .filter(matcherOf(filter))
      return { records: found.slice(0, limit), more: found.length > limit }
    },
    stop: async () => {},
  }
}

export interface MemorySystem {
  api: Api
  log: MemoryLog
  owner: MemoryOwner
  partitions: number
  /** Puts a job into the store of its owner. */
  add(id: string, change?: Partial<JobView>): JobView
  [Symbol.asyncDispose](): Promise<void>
}

export function createSystem(change: Partial<ApiOptions> = {}): MemorySystem {
  const partitions = change.partitions ?? 4
  const log = new MemoryLog()
  const owner = new MemoryOwner(partitions)
  log.onRecord = (record, offset) => owner.apply(record, offset)
  const owners: OwnerDirectory = {
    ask: async (_partition, question) => question(owner),
    async askAny(partition, question) {
      try {
        return { answer: await question(owner), stale: null }
      } catch (error) {
        if (owner.behindRecords === null) throw error
        return { answer: await question(owner.standbyReads), stale: { partition, behindRecords: owner.behindRecords } }
      }
    },
    problem: async () => ownerProblem('i@h:1:b', owner.problem),
    hasCopy: () => owner.behindRecords !== null,
    standbys: async () => {
      const { behindRecords } = owner
      const standby = { instance: 's@h:2:b', url: 'http://h:2', phase: 'following' as const, behindRecords, zoneRules: '2026a' }
      return new Map(owner.behindRecords === null ? [] : [[0, [standby]]])
    },
    remoteCounts: async () => [],
    views: async () => owner.partitions().map((partition) => ({ ...partition, instance: 'i@h:1:b', url: null })),
  }
  const api = createApi({
    ...{ writer: log, codecs, names, partitions, owners, local: owner, metrics: newMetrics(), instance: 'i@h:1:b' },
    admin: memoryAdmin,
    trail: memoryTrail(log),
    clock: { nowMs: () => nowMs, steadyMs: () => nowMs, at: () => () => {} },
    logger: pino({ level: 'silent' }),
    health: () => ({ live: true, ready: true, reasons: [] }),
    ...change,
  })
  return {
    ...{ api, log, owner, partitions },
    add(id, changed = {}) {
      const job = { ...view(id, atNoonDefinition(), partitionOf(id, partitions), 0), ...changed }
      owner.jobs.set(id, job)
      return job
    },
    [Symbol.asyncDispose]: () => api.stop(),
  }
}

function structuredCloneKeepingBuffers<Value>(value: Value): Value {
  return value === undefined ? value : (decodeInternalJson(encodeInternalJson(value)) as Value)
}
