/** The processes of a test system: the product's scheduler, retry forwarder and workers, each on a simulated machine. */
import { pino } from 'pino'
import { settingsSchema } from '../../schemas/index.ts'
import { type TopicNames, tombstoneRetentionMs, topicNames } from '../../streams/topics/index.ts'
import { DuelogError } from '../ground/errors/index.ts'
import type { Logger } from '../ground/logging/index.ts'
import { type Metrics, silentMetrics } from '../ground/metrics/index.ts'
import type { Log, PartitionQueries, PartitionStores, Pauses, TargetTopics } from '../ground/ports/index.ts'
import { zoneRulesVersion } from '../ground/process/index.ts'
import { type Codecs, codecsWithoutRegistry } from '../log/kafka/index.ts'
import { Scheduler } from '../scheduler/index.ts'
import type { OwnerDirectory } from '../server/peers/index.ts'
import { Executor, type GivenHandlers, type Hook, preparedHandlers } from '../worker/executor/index.ts'
import { Retrier } from '../worker/retrier/index.ts'
import type { HandlerCalls } from './handler-calls.ts'
import { type Brokers, Machine, type Member, type MemoryStore, memoryStore, simulatedLog } from './simulation/index.ts'

export const prefix: string = settingsSchema.properties.DUELOG_TOPIC_PREFIX.default
export const names: TopicNames = topicNames(prefix)

/** Made at the first use, and shared by all test systems of a process: both take milliseconds. */
let sharedCodecs: Codecs | undefined
let sharedMetrics: Metrics | undefined
export function codecs(): Codecs {
  sharedCodecs ??= codecsWithoutRegistry()
  return sharedCodecs
}
export function metrics(): Metrics {
  sharedMetrics ??= silentMetrics()
  return sharedMetrics
}

/** How long a worker that closes waits for its handlers, in ms. */
const drainMs = 25_000

interface SimulatedProcess {
  machine: Machine
  members: Member[]
}

export interface SimulatedWorker extends SimulatedProcess {
  pool: string
  /** Name of the worker in runs: name@host:pid:boot. */
  instance: string
  executor: Executor
  /** Resolves when its machine dies: what it was asked for then gets no answer. */
  died: Promise<void>
}

interface ProcessesOptions {
  brokers: Brokers
  calls: HandlerCalls
  handlers: () => GivenHandlers
  hooks: readonly Hook[]
  pools: readonly string[]
  /** Topics of users that jobs may write to. Undefined: all. */
  topics: readonly string[] | undefined
  concurrency: number
  logger: Logger | undefined
  /** A process cannot go on. */
  onFailure: (error: Error) => void
}

export class Processes {
  readonly #options: ProcessesOptions
  readonly logger: Logger
  readonly #disk = new Map<number, MemoryStore>()
  readonly #groups: Parameters<typeof simulatedLog>[2] = new Map()
  /** Those that run. */
  #all: SimulatedProcess[] = []
  readonly workers: SimulatedWorker[] = []
  readonly owner = new OwnerCalls()
  #scheduler: SimulatedProcess | undefined
  /** Set before the first process starts. */
  pauses: Pauses | undefined
  readonly #deaths = new Map<Machine, () => void>()
  #number = 0

  constructor(options: ProcessesOptions) {
    this.#options = options
    this.logger = options.logger ?? pino({ level: 'silent' })
  }

  /** The readers of all processes that run. */
  *members(): Generator<Member> {
    for (const { machine, members } of this.#all) if (machine.alive) yield* members
  }

  /** A machine, and the log as a process on it sees it. */
  machine(name: string): SimulatedProcess & { log: Log; instance: string } {
    const { brokers } = this.#options
    const instance = `${name}@test:${++this.#number}:1`
    const machine = new Machine(instance, brokers.time)
    const members: Member[] = []
    const log = simulatedLog(
      brokers,
      machine,
      this.#groups,
      (member) => members.push(member),
      () => {},
      () => {},
    )
    this.#all.push({ machine, members })
    return { machine, members, log, instance }
  }

  /** Resolves once a scheduler fires: this one, or its successor if it dies before. */
  startScheduler(): Promise<void> {
    const { machine, members, log, instance } = this.machine('scheduler')
    const { brokers } = this.#options
    const scheduler = new Scheduler({
      ...{ log, codecs: codecs(), names, prefix, instance, pauses: this.pauses },
      ...{ clock: machine.clock, metrics: metrics(), logger: this.logger },
      partitions: brokers.log.partitions,
      userData: () => null,
      stores: this.#stores(),
      zoneRules: zoneRulesVersion,
      // Everything happens exactly when it is due.
      ...{ leadMs: 0, leadMsMax: 0, lingerMs: 0 },
      idleTasks: false,
      tombstoneRetentionMs,
      targets: this.#targets(),
      spare: { rest: () => new Promise<void>(setImmediate) },
      onFatal: (error) => this.#options.onFailure(error),
    })
    this.#scheduler = { machine, members }
    this.owner.began({ instance, queries: scheduler.queries, ready: scheduler.start().then(() => scheduler.ready()) })
    return this.owner.ask(0, async () => {})
  }

  /** The scheduler dies, and another one starts; with an empty disk if the store is lost. */
  async replaceScheduler(storeLost: boolean): Promise<void> {
    if (this.#scheduler !== undefined) this.kill(this.#scheduler)
    if (storeLost) this.#disk.clear()
    const started = this.startScheduler()
    this.owner.ended()
    await started
  }

  async startRetrier(): Promise<void> {
    const { machine, log, instance } = this.machine('retrier')
    const { execution, event } = codecs()
    const shared = { log, names, clock: machine.clock, metrics: metrics(), logger: this.logger }
    await new Retrier({ ...shared, instance, codecs: { execution, event }, leadMs: 0 }).start()
  }

  async startWorker(pool: string, name: string): Promise<SimulatedWorker> {
    const { handlers, hooks, concurrency, calls } = this.#options
    const { machine, members, log, instance } = this.machine(name)
    const executor = new Executor({
      ...{ log, names, pool, concurrency, instance, drainMs, pauses: this.pauses },
      ...{ clock: machine.clock, codecs: codecs(), metrics: metrics(), logger: this.logger },
      handlers: calls.counted(preparedHandlers(handlers(), hooks, this.logger), machine),
      leadMs: 0,
      reportLingerMs: 0,
    })
    const { promise: died, resolve } = Promise.withResolvers<void>()
    this.#deaths.set(machine, resolve)
    const worker = { machine, members, pool, instance, executor, died }
    this.workers.push(worker)
    await Promise.race([executor.start(), died])
    return worker
  }

  /** Ends a process as a power cut does: what it has not written is lost. */
  kill({ machine }: SimulatedProcess): void {
    const { brokers } = this.#options
    machine.clock.stopped = true
    machine.alive = false
    machine.diedAt = brokers.time.nowMs
    brokers.io.drop(machine)
    this.#all = this.#all.filter((process) => process.machine !== machine)
    const at = this.workers.findIndex((worker) => worker.machine === machine)
    if (at >= 0) this.workers.splice(at, 1)
    this.#deaths.get(machine)?.()
    this.#deaths.delete(machine)
  }

  #stores(): PartitionStores {
    const disk = this.#disk
    return {
      async open(partition) {
        const store = disk.get(partition) ?? memoryStore()
        disk.set(partition, store)
        return { store, wiped: undefined }
      },
      held: async () => [...disk.keys()],
      wipe: async (partition) => void disk.delete(partition),
    }
  }

  #targets(): TargetTopics {
    const { topics, pools } = this.#options
    return {
      problem({ name }) {
        if (name.startsWith(prefix)) return `Topic ${name} is one of Duelog's own.`
        return topics === undefined || topics.includes(name) ? undefined : `Topic ${name} does not exist.`
      },
      seek: () => undefined,
      poolProblem: (pool) =>
        pools.includes(pool) ? undefined : `The pool ${pool} has no topics. Give its name to testSystem in pools.`,
      seekPool: () => undefined,
      failed: async () => {},
    }
  }
}

interface Owner {
  /** name@host:pid:boot of its process. */
  instance: string
  queries: PartitionQueries
  /** Resolves once it fires. */
  ready: Promise<void>
}

const died = Symbol('died')

class OwnerCalls implements OwnerDirectory {
  #owner: Owner | undefined
  readonly #open = new Set<() => void>()

  /** A scheduler has started; it answers once it is ready. */
  began(owner: Owner): void {
    this.#owner = owner
  }

  /** The scheduler is dead. Its successor must have begun. */
  ended(): void {
    for (const end of this.#open) end()
  }

  async ask<Answer>(_partition: number, question: (queries: PartitionQueries) => Promise<Answer>): Promise<Answer> {
    for (;;) {
      if (this.#owner === undefined) throw new DuelogError('not-ready', 'The test system has not started.')
      const { queries, ready } = this.#owner
      const { promise, resolve } = Promise.withResolvers<typeof died>()
      const end = (): void => resolve(died)
      this.#open.add(end)
      try {
        const answer = await Promise.race([ready.then(() => question(queries)), promise])
        if (answer !== died) return answer
      } finally {
        this.#open.delete(end)
      }
    }
  }

  async askAny<Answer>(partition: number, question: (queries: PartitionQueries) => Promise<Answer>) {
    return { answer: await this.ask(partition, question), stale: null }
  }

  hasCopy = (): boolean => false
  standbys = async () => new Map<number, never>()
  problem = async (): Promise<undefined> => undefined
  remoteCounts = async () => []

  views() {
    return this.ask(0, async (queries) => {
      const instance = this.#owner?.instance ?? null
      return queries.partitions().map((view) => ({ ...view, instance, url: null }))
    })
  }
}
