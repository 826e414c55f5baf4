/** The processes of a test system: the product's scheduler, retry forwarder and workers, each on a simulated machine. */
import { pino } from 'pino'
import { settingsSchema } from '../../schemas/index.ts'
import { type TopicNames, tombstoneRetentionMs, topicNames } from '../../streams/topics/index.ts'
import { Executor, type GivenHandlers, type Hook, preparedHandlers } from '../executor/index.ts'
import { type Codecs, codecsWithoutRegistry } from '../kafka/index.ts'
import type { Logger } from '../logging/index.ts'
import { type Metrics, silentMetrics } from '../metrics/index.ts'
import type { Log, PartitionStores, TargetTopics } from '../ports/index.ts'
import { zoneRulesVersion } from '../process/index.ts'
import { Retrier } from '../retrier/index.ts'
import { Scheduler } from '../scheduler/index.ts'
import type { HandlerCalls } from './handler-calls.ts'
import { OwnerCalls } from './owner-calls.ts'
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
function metrics(): Metrics {
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

export interface ProcessesOptions {
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
  readonly #logger: Logger
  readonly #disk = new Map<number, MemoryStore>()
  readonly #groups: Parameters<typeof simulatedLog>[2] = new Map()
  /** Those that run. */
  #all: SimulatedProcess[] = []
  readonly workers: SimulatedWorker[] = []
  readonly owner = new OwnerCalls()
  #scheduler: SimulatedProcess | undefined
  readonly #deaths = new Map<Machine, () => void>()
  #number = 0

  constructor(options: ProcessesOptions) {
    this.#options = options
    this.#logger = options.logger ?? pino({ level: 'silent' })
  }

  /** The readers of all processes that run. */
  *members(): Generator<Member> {
    for (const { machine, members } of this.#all) if (machine.alive) yield* members
  }

  /** A machine, and the log as a process on it sees it. */
  machine(name: string): SimulatedProcess & { log: Log } {
    const { brokers } = this.#options
    const machine = new Machine(name, brokers.time)
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
    return { machine, members, log }
  }

  /** Resolves once a scheduler fires: this one, or its successor if it dies before. */
  startScheduler(): Promise<void> {
    const { machine, members, log } = this.machine('scheduler')
    const { brokers } = this.#options
    const scheduler = new Scheduler({
      ...{ log, codecs: codecs(), names, prefix, instance: this.#instance('scheduler') },
      ...{ clock: machine.clock, metrics: metrics(), logger: this.#logger },
      partitions: brokers.log.partitions,
      userData: () => null,
      stores: this.#stores(),
      zoneRules: zoneRulesVersion,
      // Everything happens exactly when it is due.
      ...{ leadMs: 0, leadMsMax: 0, lingerMs: 0 },
      recordsRuns: false,
      idleTasks: false,
      tombstoneRetentionMs,
      targets: this.#targets(),
      spare: { rest: () => new Promise<void>(setImmediate) },
      onFatal: (error) => this.#options.onFailure(error),
    })
    this.#scheduler = { machine, members }
    this.owner.began({ queries: scheduler.queries, ready: scheduler.start().then(() => scheduler.ready()) })
    return this.owner.ask(async () => {})
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
    const { machine, log } = this.machine('retrier')
    const { execution, event } = codecs()
    const shared = { log, names, clock: machine.clock, metrics: metrics(), logger: this.#logger }
    await new Retrier({ ...shared, instance: this.#instance('retrier'), codecs: { execution, event }, leadMs: 0 }).start()
  }

  async startWorker(pool: string, name: string): Promise<SimulatedWorker> {
    const { handlers, hooks, concurrency, calls } = this.#options
    const instance = this.#instance(name)
    const { machine, members, log } = this.machine(instance)
    const executor = new Executor({
      ...{ log, names, pool, concurrency, instance, drainMs },
      ...{ clock: machine.clock, codecs: codecs(), metrics: metrics(), logger: this.#logger },
      handlers: calls.counted(preparedHandlers(handlers(), hooks, this.#logger), machine),
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

  #instance(name: string): string {
    return `${name}@test:${++this.#number}:1`
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
