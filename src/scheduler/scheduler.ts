/**
 * The scheduler of one process: a member of the group `<prefix>scheduler`, and the partitions it owns.
 * The group decides which member should own a partition; the fence decides which one does (partition/partition.ts).
 */
import { counted } from '../../streams/text/index.ts'
import { commitSlots, restoreSlots, Semaphore, standbyRestoreSlots } from '../ground/concurrency/index.ts'
import type { Batch, GroupReader, LogAdmin, PartitionQueries, Position, TopicPartition } from '../ground/ports/index.ts'
import { BulkOperations } from './bulk/index.ts'
import { GroupPositions } from './group-positions.ts'
import { HandOver } from './hand-over.ts'
import {
  EndOffsetQueries,
  inputBufferBytesOf,
  PartitionReader,
  ReadingPace,
  type ReadSource,
  readSources,
} from './input/index.ts'
import type { SchedulerOptions, Shared } from './options/index.ts'
import { OpenTransactions, Partition, type PartitionRole, type SchedulerResources } from './partition/index.ts'
import { showPartitions } from './partition-gauges.ts'
import { type Hooks, partitionQueries } from './partition-queries.ts'
import { PoolWorkers } from './pools/index.ts'
import { WrittenDefinitions } from './queries/index.ts'
import { StandbyWarmth } from './standby-warmth.ts'
import { activeJobsMax, withStoresFaults } from './state/index.ts'
import { HeavyTimerSlots } from './timers/index.ts'
import { Withdrawal } from './withdrawal.ts'

/**
 * A commit cycle ends with its commit, and each commit ends with an answer, an error or a timeout of the log long before this.
 */
const hangsAfterMs = 300_000
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #partitions = new Map<number, Partition>()
  readonly #sources = new Map<string, ReadSource>()
  readonly #waiting = new Set<() => void>()
  readonly queries: PartitionQueries
  /** What works on partitions beside the core. */
  readonly #hooks: Hooks
  #shared: Shared | undefined
  #reader: GroupReader | undefined
  #joined = false
  /** Partitions with files on disk, and their offsets; undefined for those of an earlier run. */
  readonly #onDisk = new Map<number, number>()
  #resources: SchedulerResources | undefined
  #openTransactions: OpenTransactions | undefined
  #groupPositions: GroupPositions | undefined
  readonly #warmth: StandbyWarmth
  readonly #withdrawal: Withdrawal
  readonly #cancelTrustWatch: (() => void) | undefined
  #cancelTargetsWatch: (() => void) | undefined
  readonly #handOver: HandOver
  readonly #endPauses: (() => void) | undefined
  #stopping: Promise<void> | undefined

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#hooks = { bulk: new BulkOperations(options.clock), written: new WrittenDefinitions() }
    for (const source of readSources) this.#sources.set(options.names[source], source)
    this.queries = partitionQueries(this.#partitions, options, this.#hooks)
    this.#handOver = new HandOver(options, () => this.#leaving)
    const ask = (): Promise<void> => this.#reader?.rejoin() ?? Promise.resolve()
    this.#withdrawal = new Withdrawal({ ...options, partitions: () => this.#partitions.values(), ask })
    this.#warmth = new StandbyWarmth({
      clock: options.clock,
      ask,
      isWarm: (number) => this.#partitions.get(number)?.isWarm === true,
      isTakingOver: () => [...this.#partitions.values()].some(({ phase }) => phase === 'claiming' || phase === 'draining'),
    })
    this.#endPauses = options.pauses?.onChange(() => {
      for (const partition of this.#partitions.values()) partition.wake()
    })
    this.#cancelTrustWatch = options.clock.guard?.onTrusted(() => {
      for (const partition of this.#partitions.values()) partition.wake()
      this.#warmth.check()
    })
  }

  /** Joins the group. Resolves when it has joined; partitions become active afterwards, see queries.partitions(). */
  async start(): Promise<void> {
    const { log, names, prefix, instance, userData, metrics, clock, idleTasks = true } = this.#options
    metrics.partitions.set(this.#options.partitions)
    showPartitions(metrics, this.#partitions, clock)
    const admin = await log.admin()
    const stores = withStoresFaults(this.#options.stores)
    const poolWorkers = this.#newPoolWorkers(admin)
    this.#shared = { ...this.#options, stores, admin, clusterId: await admin.clusterId(), poolWorkers }
    const isOurs = (partition: number): boolean => this.#partitions.get(partition)?.role === 'owner'
    const onEnd = (topic: string, partition: number, end: number): void => {
      const source = this.#sources.get(topic)
      if (source !== undefined) this.#partitions.get(partition)?.partitionReader.ended(source, end)
    }
    this.#cancelTargetsWatch = this.#options.targets?.onAppeared?.(() => {
      for (const partition of this.#partitions.values()) partition.wake()
    })
    this.#openTransactions = new OpenTransactions(admin, names, this.#options, isOurs, onEnd)
    if (idleTasks) this.#openTransactions.start()
    const endsOf = (topic: string): EndOffsetQueries => new EndOffsetQueries(admin, topic, this.#options.clock)
    const readingPace = new ReadingPace(this.#options.clock, this.#options.readPaceMs ?? 0)
    this.#resources = {
      hooks: Object.values(this.#hooks).map(({ hook }) => hook),
      openTransactions: this.#openTransactions,
      commits: new Semaphore(commitSlots),
      heavy: new HeavyTimerSlots(this.#options.clock),
      inputBufferBytesMax: () => inputBufferBytesOf(this.#partitions.size),
      activeJobsMax: () => Math.floor(activeJobsMax / Math.max(1, this.#partitions.size)),
      restores: new Semaphore(restoreSlots),
      standbyRestores: new Semaphore(standbyRestoreSlots),
      nonTransactionalWriter: await log.writer(),
      ends: { jobs: endsOf(names.jobs), commands: endsOf(names.commands), events: endsOf(names.events) },
      readingPace,
      phaseChanged: () => {
        readingPace.hurry()
        this.#settleWaiting()
        this.#warmth.check()
        this.#withdrawal.check()
      },
    }
    for (const number of await this.#options.stores.held()) if (number < this.#options.partitions) this.#onDisk.set(number, 0)
    this.#reader = log.reader({
      groupId: `${prefix}scheduler`,
      topics: readSources.map((source) => names[source]),
      instance,
      userData,
      assignment: 'co-partitioned',
      standbys: {
        wanted: this.#options.standbys ?? 0,
        topics: [names.jobs, names.state],
        copies: () => this.#copies(),
        warmth: { topic: names.events, warm: () => this.#warm() },
      },
      isLeaving: () => this.isLeaving,
      startAt: 'earliest',
      onAssigned: (assigned) => this.#assigned(assigned),
      onBatch: (batch) => this.#received(batch),
      onPassed: ({ topic, partition, offset }) => {
        const source = this.#sources.get(topic)
        if (source !== undefined) this.#partitions.get(partition)?.passed(source, offset)
      },
      onCrash: (error) => this.#options.onFatal(error),
    })
    await this.#reader.start()
    const commit = async (positions: Position[]): Promise<void> => this.#reader?.commit(positions)
    this.#groupPositions = new GroupPositions(this.#options, () => this.#partitions.values(), commit)
    if (idleTasks) this.#groupPositions.start()
  }

  /** Whether every partition that the group assigned to this member to own is firing. */
  get active(): boolean {
    const fires = ({ phase, role, closing }: Partition): boolean => phase === 'active' || role === 'standby' || closing
    return this.#joined && [...this.#partitions.values()].every(fires)
  }

  /** Whether it gives its partitions to other members. */
  get isLeaving(): boolean {
    return this.#handOver.hasBegun || this.#withdrawal.isWithdrawn
  }

  /** Why this process lets other members fire; undefined if it does not. */
  get problem(): string | undefined {
    return this.#withdrawal.problem
  }

  /** Partitions that are stuck in a commit cycle. */
  get hanging(): number[] {
    const startedBefore = this.#options.clock.steadyMs() - hangsAfterMs
    return [...this.#partitions.values()].filter(({ cycleSince }) => cycleSince < startedBefore).map(({ number }) => number)
  }

  /** Resolves when `active`. */
  ready(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve)
      this.#settleWaiting()
    })
  }

  /**
   * Keeps firing until other members do, for 10 s at most. Then it finishes the current cycles, leaves the group and closes the
   * stores. Safe to call twice.
   */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#warmth.stop()
    this.#withdrawal.stop()
    const fires = [...this.#partitions.values()].some(({ phase }) => phase === 'active')
    if (this.#reader !== undefined && fires) await this.#handOver.run(this.#reader)
    await Promise.all([...this.#partitions.values()].map((partition) => partition.close()))
    this.#cancelTrustWatch?.()
    this.#cancelTargetsWatch?.()
    this.#endPauses?.()
    this.#openTransactions?.stop()
    this.#shared?.poolWorkers?.stop()
    this.#groupPositions?.stop()
    await this.#reader?.stop()
    await this.#resources?.nonTransactionalWriter.close()
    await this.#shared?.admin.close()
  }

  #assigned(assigned: TopicPartition[]): { positions: Position[]; paused: TopicPartition[] } {
    const { names, logger } = this.#options
    const numbers = new Set(assigned.map(({ partition }) => partition))
    // A standby does not read inputs that its owner must decide about.
    const owned = new Set(assigned.filter(({ topic }) => topic === names.commands).map(({ partition }) => partition))
    for (const [number, partition] of this.#partitions) {
      if (!numbers.has(number)) partition.leave()
      if (partition.phase === 'closed') this.#partitions.delete(number)
    }
    const positions: Position[] = []
    const paused: TopicPartition[] = []
    for (const number of numbers) {
      const role = owned.has(number) ? 'owner' : 'standby'
      const partition = this.#kept(number, role) ?? this.#added(number, role)
      const assignment = partition.partitionReader.assignment()
      positions.push(...assignment.positions)
      paused.push(...assignment.paused)
    }
    this.#joined = true
    this.#settleWaiting()
    const isAwaited = ({ topic, partition }: TopicPartition): boolean => topic === names.events && !owned.has(partition)
    const awaited = assigned.filter(isAwaited).map(({ partition }) => partition)
    this.#warmth.await(awaited)
    this.#withdrawal.check()
    const [context, others] = [sorted(owned), sorted(numbers).filter((number) => !owned.has(number))]
    const more = others.length === 0 ? '' : `, and ${others.length} to follow`
    const later = awaited.length === 0 ? '' : `; ${counted(awaited.length, 'of these is', 'of these are')} awaited`
    const facts = { partitions: context, standbyOf: others, awaited: sorted(awaited) }
    logger.info({ event: 'partitions-assigned', ...facts }, `Assigned ${counted(context.length, 'partition')}${more}${later}.`)
    return { positions, paused }
  }

  /** Which worker has which handler, for all partitions of this process. */
  #newPoolWorkers(admin: LogAdmin): PoolWorkers {
    const { names, clock, metrics, logger } = this.#options
    const partitions = this.#partitions
    return new PoolWorkers({
      ...{ admin, names, clock, metrics, logger },
      isWatched: () => [...partitions.values()].some(({ activeRuns }) => (activeRuns?.workerBound.size ?? 0) > 0),
      onChanged: () => {
        for (const partition of partitions.values()) partition.wake()
      },
    })
  }

  /** Partitions that fire here only until their new owners do. */
  get #leaving(): number[] {
    return [...this.#partitions.values()].filter(({ isLeaving }) => isLeaving).map(({ number }) => number)
  }

  #settleWaiting(): void {
    this.#handOver.check()
    if (!this.active) return
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  #kept(number: number, role: PartitionRole): Partition | undefined {
    const partition = this.#partitions.get(number)
    if (partition === undefined || partition.closing) return undefined
    partition.assign(role)
    return partition
  }

  #added(number: number, role: PartitionRole): Partition {
    const { names } = this.#options
    if (this.#shared === undefined || this.#reader === undefined || this.#resources === undefined)
      throw new Error('Assigned before the start.')
    const before = this.#partitions.get(number)?.close()
    const partitionReader = new PartitionReader(this.#reader, names, number)
    const partition = new Partition(number, role, this.#shared, partitionReader, this.#resources, before)
    this.#partitions.set(number, partition)
    return partition
  }

  /** Stores that this member could continue with, and their offsets. */
  #copies(): [partition: number, offset: number][] {
    if (this.#withdrawal.isWithdrawn) this.#onDisk.clear()
    for (const { number, stateOffset } of this.#partitions.values()) if (stateOffset > 0) this.#onDisk.set(number, stateOffset)
    return [...this.#onDisk]
  }

  #warm(): number[] {
    const warm = [...this.#partitions.values()].filter(({ isWarm }) => isWarm).map(({ number }) => number)
    this.#warmth.telling(warm)
    return warm
  }

  #received(batch: Batch): Promise<void> | undefined {
    const source = this.#sources.get(batch.topic)
    return source === undefined ? undefined : this.#partitions.get(batch.partition)?.receive(source, batch)
  }
}

const sorted = (numbers: Iterable<number>): number[] => [...numbers].sort((a, b) => a - b)
