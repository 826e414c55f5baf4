/**
 * A whole partition without a broker: in-memory logs with transactions, a virtual clock, scripted workers, and owners that die at
 * any step of a commit. The rules, the commit cycle, the effects, the time index and the restore are the real ones.
 */
import { pino } from 'pino'
import type {
  Execution,
  ExecutionEventInput,
  JobCommandInput,
  JobDefinitionInput,
  Pause,
  PauseInput,
  WorkerControl,
  WorkerControlInput,
} from '../../schemas/generated.ts'
import {
  deadLetterSchema,
  endedRunSchema,
  executionEventSchema,
  executionSchema,
  jobCommandSchema,
  jobDefinitionSchema,
  jobStateSchema,
  pauseSchema,
  workerControlSchema,
} from '../../schemas/generated.ts'
import type { Clock } from '../../src/ground/clock/clock.ts'
import { Semaphore } from '../../src/ground/concurrency/semaphore.ts'
import { newMetrics } from '../../src/ground/metrics/metrics.ts'
import type { Codec, RecordIn, RecordOut, TargetTopics } from '../../src/ground/ports/log.ts'
import type { Heartbeat } from '../../src/ground/ports/owner-queries.ts'
import { avroType } from '../../src/log/kafka/avro/avro-type.ts'
import { AvroCodec } from '../../src/log/kafka/avro/codec.ts'
import { Activity, JobWaits, Leases, WorkerWatch } from '../../src/scheduler/activity/activity.ts'
import type { CommitContext } from '../../src/scheduler/commit/commit-context.ts'
import { LocalStore } from '../../src/scheduler/commit/commit-context.ts'
import { batchRecordsMax, runCommitCycle } from '../../src/scheduler/commit/commit-cycle.ts'
import { FailureIsolation } from '../../src/scheduler/commit/failure-isolation.ts'
import { TimerSource } from '../../src/scheduler/commit/timer-source.ts'
import { InputBuffer, type Source } from '../../src/scheduler/input/input-buffer.ts'
import { InputDecoder } from '../../src/scheduler/input/input-decoder.ts'
import { type AppliedOffsets, LogPositions } from '../../src/scheduler/input/log-positions.ts'
import { AdmissionQueue } from '../../src/scheduler/limits/admission-queue.ts'
import type { SchedulerCodecs, Shared } from '../../src/scheduler/options/options.ts'
import { type ActiveJobs, activeJobsMax } from '../../src/scheduler/state/active-jobs.ts'
import {
  type ChangelogState,
  checkpointOp,
  emptyChangelogState,
  positionKey,
  readCheckpoint,
} from '../../src/scheduler/state/checkpoint.ts'
import { loadJobs } from '../../src/scheduler/state/job-loader.ts'
import { changelogOps, putRetainedDefinitions } from '../../src/scheduler/state/stored-entries.ts'
import { replyHeaders } from '../../streams/jobs/receipt.ts'
import type { AttemptId, Job } from '../../streams/state/job.ts'
import { type TopicNames, topicNames } from '../../streams/topics/topics.ts'
import { type MemoryStore, memoryStore } from '../tools/memory-store.ts'

export const names: TopicNames = topicNames('model.')
export const leadMs = 100
/** How early bursts may be dispatched, and everything while commits take long. */
export const leadMsMax = 2_000
/** Topics of the user: one that jobs write to, and one for receipts. */
export const ordersTopic = 'orders'
export const repliesTopic = 'replies'

const refuse = async (): Promise<never> => {
  throw new Error('no other schema')
}
const codec = <Value, Input>(schema: unknown, id: number) => new AvroCodec<Value, Input>(avroType(schema), [id], refuse)
export const codecs = {
  definition: codec(jobDefinitionSchema, 1),
  command: codec(jobCommandSchema, 2),
  state: codec(jobStateSchema, 3),
  execution: codec(executionSchema, 4),
  event: codec(executionEventSchema, 5),
  deadLetter: codec(deadLetterSchema, 6),
  control: codec(workerControlSchema, 7),
  endedRun: codec(endedRunSchema, 8),
  pause: codec(pauseSchema, 9),
} as unknown as Omit<SchedulerCodecs, 'control'> & {
  control: Codec<WorkerControl, WorkerControlInput>
  pause: Omit<Codec<Pause, PauseInput>, 'encode'> & { encode(value: PauseInput): Buffer }
  definition: { encode(value: JobDefinitionInput): Buffer }
  command: { encode(value: JobCommandInput): Buffer }
  event: { encode(value: ExecutionEventInput): Buffer }
}

/** The step at which an owner dies. */
export type CrashPoint = 'before-send' | 'after-send' | 'after-commit' | 'after-apply'
export class Crash extends Error {}

const logs = { jobs: names.jobs, commands: names.commands, events: names.events } as const

export class World {
  now = 1_800_000_000_000
  readonly records = new Map<string, RecordIn[]>()
  crashAt: CrashPoint | undefined
  /** How long the owner takes its commit cycles to last. */
  cycleMs = 0
  /** Jobs with active runs that the owner may keep in memory. */
  activeJobsMax = activeJobsMax
  /** Whether the topic that jobs write to exists. */
  ordersThere = true
  store: MemoryStore = memoryStore()
  #owner: Owner | undefined
  readonly #handed = new Map<string, number>()

  readonly clock: Clock = { nowMs: () => this.now, steadyMs: () => this.now, at: () => () => {} }

  log(topic: string): RecordIn[] {
    const log = this.records.get(topic) ?? []
    this.records.set(topic, log)
    return log
  }

  append({ topic, key, value, headers = {} }: RecordOut): number {
    const log = this.log(topic)
    const bytes = typeof key === 'string' ? Buffer.from(key) : key
    const asBuffers = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]))
    return log.push({ topic, partition: 0, offset: log.length, timestampMs: this.now, key: bytes, value, headers: asBuffers }) - 1
  }

  define(id: string, definition: JobDefinitionInput): void {
    this.append({ topic: names.jobs, key: id, value: codecs.definition.encode(definition), headers: this.#asking() })
  }

  remove(id: string): void {
    this.append({ topic: names.jobs, key: id, value: null, headers: this.#asking() })
  }

  /** Every second record asks for a receipt, because a record without one may need no commit. */
  #asking(): Record<string, string> {
    const { length } = this.log(names.jobs)
    if (length % 2 === 0) return {}
    return { [replyHeaders.topic]: repliesTopic, [replyHeaders.correlationId]: String(length) }
  }

  command(id: string, command: JobCommandInput): void {
    this.append({ topic: names.commands, key: id, value: codecs.command.encode(command) })
  }

  report(event: ExecutionEventInput): void {
    this.append({ topic: names.events, key: event.jobId, value: codecs.event.encode(event) })
  }

  /** Every committed execution, in the order of their commits within each lane. `carries`: chooses topics. */
  executions(carries = carriesExecutions): Execution[] {
    const all: Execution[] = []
    for (const [topic, records] of this.records) {
      if (!carries(topic)) continue
      for (const { value } of records) {
        const execution = value === null ? undefined : executionIn(topic, value)
        if (execution !== undefined) all.push(execution)
      }
    }
    return all.sort((left, right) => left.dispatchedAt - right.dispatchedAt)
  }

  /** Executions that no worker has yet. A worker takes those that are ahead of their time in their order, when they are nearly due. */
  handOut(): Execution[] {
    const fresh: Execution[] = []
    for (const [topic, records] of this.records) {
      if (!carriesExecutions(topic)) continue
      let at = this.#handed.get(topic) ?? 0
      for (; at < records.length; at++) {
        const { value = null } = records[at] ?? {}
        const execution = value === null ? undefined : executionIn(topic, value)
        if (isAhead(topic) && execution !== undefined && execution.dueAt > this.now + leadMs) break
        if (execution !== undefined) fresh.push(execution)
      }
      this.#handed.set(topic, at)
    }
    return fresh
  }

  /** Records of the delay topics whose delay is over go back to the owner. */
  forwardRetries(forwarded: Map<string, number>): void {
    for (const [topic, records] of this.records) {
      if (!topic.startsWith('model.retry.')) continue
      for (let at = forwarded.get(topic) ?? 0; at < records.length; at++) {
        const { jobId, runNo, attempt, specOffset } = codecs.execution.decode(records[at]?.value ?? Buffer.alloc(0)) as Execution
        this.report({ type: 'RETRY_DUE', jobId, runNo, attempt, specOffset, at: this.now })
      }
      forwarded.set(topic, records.length)
    }
  }

  /** The last heartbeat of an attempt that the owner has read. */
  lastHeartbeat(jobId: string, attempt: AttemptId): Heartbeat | undefined {
    return this.#owner?.lastHeartbeat(jobId, attempt)
  }

  /** Jobs that the owner keeps in memory, each with what its store has. */
  async keptJobs(): Promise<{ kept: Job; stored: Job | undefined }[]> {
    const kept = [...(this.#owner?.activeJobs.entries() ?? [])]
    const stored = await loadJobs(
      this.store,
      codecs,
      kept.map(([id]) => id),
    )
    return kept.map(([id, job]) => ({ kept: job, stored: stored.get(id) }))
  }

  /** Lets the owner do all of its present work. A crash ends it; the next call takes over from what is left. */
  async settle(): Promise<'settled' | 'crashed'> {
    try {
      this.#owner ??= await Owner.takeOver(this)
      await this.#owner.work()
      return 'settled'
    } catch (error) {
      if (!(error instanceof Crash || (error instanceof Error && error.cause instanceof Crash))) throw error
      this.#owner = undefined
      this.crashAt = undefined
      return 'crashed'
    }
  }

  /** The owner dies; its store stays, is lost, or is restored to an earlier state. */
  dropOwner(store: MemoryStore = this.store): void {
    this.#owner = undefined
    this.store = store
  }

  reach(point: CrashPoint): void {
    if (this.crashAt === point) throw new Crash(point)
  }
}

const carriesExecutions = (topic: string): boolean =>
  topic === names.control || (topic.startsWith('model.executions.') && topic !== names.deadLetters)

/** Whether the topic has executions that were dispatched earlier than one lead. */
export const isAhead = (topic: string): boolean => topic.endsWith('.ahead')

/** A pinned Execution is inside a record for its worker; a cancellation has none. */
function executionIn(topic: string, value: Buffer): Execution | undefined {
  if (topic !== names.control) return codecs.execution.decode(value) as Execution
  const { execution } = codecs.control.decode(value) as WorkerControl
  return execution === null ? undefined : (codecs.execution.decode(execution) as Execution)
}

/** An owner that is not at rest by then never will be. */
const turnsMax = 2_000
const logger = pino({ level: 'silent' })
const sources = ['jobs', 'commands', 'events'] as const

class Owner {
  readonly #world: World
  readonly #shared: Shared
  readonly #inputBuffer = new InputBuffer()
  readonly #leases: Leases
  readonly #intake: InputDecoder
  readonly #context: CommitContext
  readonly #taker: TimerSource
  readonly #read: Record<Source, number>

  private constructor(world: World, applied: AppliedOffsets, logged: ChangelogState) {
    this.#world = world
    const metrics = newMetrics()
    const { clock } = world
    const targets: TargetTopics = {
      problem: ({ name }) => (name === ordersTopic && !world.ordersThere ? `Topic ${name} does not exist.` : undefined),
      seek: () => undefined,
      poolProblem: () => undefined,
      seekPool: () => undefined,
      failed: async () => {},
    }
    this.#shared = {
      partitions: 1,
      names,
      codecs,
      clock,
      metrics,
      logger,
      leadMs,
      leadMsMax,
      targets,
      clusterId: 'model',
    } as unknown as Shared
    this.#leases = new Leases(world.now)
    const leases = this.#leases
    const workers = new WorkerWatch()
    const taken = emptyChangelogState
    this.#intake = new InputDecoder({
      partition: 0,
      partitions: 1,
      taken,
      codecs,
      leases,
      workers,
      targets,
      clock,
      metrics,
      logger,
    })
    this.#read = { jobs: applied.jobs, commands: applied.commands, events: applied.events }
    const { store } = world
    const crashing = { ...store, apply: async (ops: Parameters<typeof store.apply>[0]) => this.#apply(ops) }
    const local = new LocalStore(0, this.#shared, crashing, { activeJobs: () => world.activeJobsMax })
    local.zones.taken(null)
    local.claimOffset = 0
    this.#taker = new TimerSource(local.index, crashing, this.#shared, local.heavyJobs)
    // Here there are no records that readers do not see.
    const reader = { isOpen: () => false, next: () => 0, reach: () => 0, end: () => 0 }
    this.#context = {
      shared: this.#shared,
      partition: 0,
      savedAtMs: world.now,
      local,
      activity: new Activity({ leases: this.#leases, workers, jobWaits: new JobWaits() }),
      input: {
        buffer: this.#inputBuffer,
        positions: new LogPositions(reader, () => false, applied, logged),
        // All reports are applied before any timer.
        reports: { readUntil: Number.POSITIVE_INFINITY, room: 0 },
      },
      admissionQueue: new AdmissionQueue(codecs),
      failureIsolation: new FailureIsolation(batchRecordsMax),
      hooks: [],
      writer: { commit: (records) => this.#commit(records), close: async () => {} },
      resources: {
        nonTransactionalWriter: { write: (records) => this.#write(records), close: async () => {} },
        commits: new Semaphore(1),
      },
    }
  }

  /** Does what activation does: loads the changelog into the store, then definitions and inputs from their positions. */
  static async takeOver(world: World): Promise<Owner> {
    const { store } = world
    const local = await readCheckpoint(store)
    const changelog = world.log(names.state).slice(local?.stateOffset ?? 0)
    const ops = await changelogOps(codecs, changelog)
    const state = world.log(names.state).length
    const jobs = local?.jobsOffset ?? 0
    const place = { clusterId: 'model', prefix: '', jobsOffset: jobs, stateOffset: state, claimOffset: 0 }
    ops.push(checkpointOp({ ...place, savedAtMs: world.now, zoneRules: '' }))
    await store.apply(ops)
    const [value] = await store.get([positionKey])
    const position = value ? (await codecs.state.decode(value)).position : null
    const applied = { jobs, state, commands: position?.commandsOffset ?? 0, events: position?.eventsOffset ?? 0 }
    const owner = new Owner(world, applied, {
      ...emptyChangelogState(),
      ...(position && { jobsOffset: position.jobsOffset, aheadUntil: position.aheadUntil }),
    })
    await putRetainedDefinitions(codecs, store)
    await owner.#drain(['jobs'])
    await owner.#drain()
    owner.#context.admissionQueue.open(world.now)
    return owner
  }

  lastHeartbeat(jobId: string, attempt: AttemptId): Heartbeat | undefined {
    return this.#leases.last(jobId, attempt)
  }

  get activeJobs(): ActiveJobs {
    return this.#context.local.activeJobs
  }

  async work(): Promise<void> {
    await this.#drain()
    for (let turns = 0; ; turns++) {
      if (turns > turnsMax) throw new Error(`The owner is still busy after ${turns} turns at one instant.`)
      const timers = await this.#taker.take(this.#world.now, false, this.#context.input.positions.logged.aheadUntil)
      const { appliedCount, committed, deferred } = await runCommitCycle(this.#context, timers, {
        onTimerScheduled: (timer) => this.#taker.scheduled(timer),
      })
      this.#taker.defer(deferred)
      if (committed) this.#taker.committedAfter(this.#world.cycleMs, timers.length - deferred.length)
      if (appliedCount === 0 && !this.#context.admissionQueue.isPressing(this.#world.now)) return
      await this.#takeIn()
    }
  }

  async #drain(wanted: readonly Source[] = sources): Promise<void> {
    let turns = 0
    do {
      if (turns++ > turnsMax) throw new Error(`The owner still reads after ${turns} turns at one instant.`)
      await this.#takeIn(wanted)
    } while (
      (await runCommitCycle(this.#context, [], { onTimerScheduled: (timer) => this.#taker.scheduled(timer) })).appliedCount > 0
    )
  }

  async #takeIn(wanted: readonly Source[] = sources): Promise<void> {
    for (const source of wanted) {
      const log = this.#world.log(logs[source])
      for (let at = this.#read[source]; at < log.length; at++) {
        const record = log[at]
        if (record !== undefined) this.#inputBuffer.put(await this.#intake.inputRecord(source, record, this.#world.now))
      }
      this.#read[source] = log.length
    }
  }

  async #commit(records: RecordOut[]): Promise<Map<string, number>> {
    this.#world.reach('before-send')
    // Sent and not committed: read_committed readers never see it.
    this.#world.reach('after-send')
    const offsets = new Map<string, number>()
    for (const record of records) {
      const offset = this.#world.append(record)
      const place = `${record.topic}/0`
      if (!offsets.has(place)) offsets.set(place, offset)
    }
    this.#world.reach('after-commit')
    return offsets
  }

  async #write(records: RecordOut[]): Promise<Map<string, number>> {
    for (const record of records) this.#world.append(record)
    return new Map()
  }

  async #apply(ops: Parameters<MemoryStore['apply']>[0]): Promise<void> {
    await this.#world.store.apply(ops)
    this.#world.reach('after-apply')
  }
}
