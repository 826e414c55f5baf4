/** One process with the real scheduler on one machine. Its log and its disk are simulated. */
import { pino } from 'pino'
import type { GuardedClock } from '../../../src/ground/clock/guarded-clock.ts'
import type { IdleTime } from '../../../src/ground/concurrency/idle-time.ts'
import { DuelogError } from '../../../src/ground/errors/errors.ts'
import { newMetrics } from '../../../src/ground/metrics/metrics.ts'
import type {
  Codec,
  GroupMember,
  GroupReader,
  Log,
  LogAdmin,
  LogWriter,
  RecordOut,
  TargetTopics,
  TransactionalWriter,
} from '../../../src/ground/ports/log.ts'
import type { PartitionStore, PartitionStores } from '../../../src/ground/ports/store.ts'
import { processClock, watchClock } from '../../../src/log/cluster/process-clock.ts'
import { PauseBook } from '../../../src/log/pauses/pause-book.ts'
import { Scheduler } from '../../../src/scheduler/scheduler.ts'
import type { Group } from '../../../src/testing/simulation/group.ts'
import { Machine } from '../../../src/testing/simulation/io.ts'
import { Member } from '../../../src/testing/simulation/member.ts'
import { type MemoryStore, memoryStore } from '../../../src/testing/simulation/memory-store.ts'
import { type Brokers, simulatedLog, tellTime } from '../../../src/testing/simulation/simulated-log.ts'
import type { VirtualTime } from '../../tools/manual-clock.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import { codecs, leadMs, names, ordersTopic } from '../world.ts'
import { CycleEnds } from './cycle-ends.ts'
import { type Fullness, Given, Loaded } from './fullness.ts'
import { Heard, type Pauses } from './pauses.ts'
import type { PoolMembers } from './pool-members.ts'
import { isOn } from './switches.ts'

export const lingerMs = 25
export const tombstoneRetentionMs = 7 * 86_400_000

/** Registering the metrics of Node itself takes long; the histories of one test share one set. */
export const metrics = newMetrics()
export const logger = pino({ level: process.env.DUELOG_MODEL_LOG ?? 'silent' })

export interface Cluster extends Brokers {
  time: VirtualTime
  log: MemoryLog
  /** The group of the schedulers; `groups` has it too. */
  group: Group
  /** Whether the topic that jobs write to exists. */
  ordersThere: boolean
  /** How far clocks may differ before owners stop. Default: owners never stop. */
  clockStepMsMax?: number
  /**
   * The interval of a guard's checks while nobody asks for the time, in ms. Default: 10,000, so that a lost question is asked
   * again while a history rests.
   */
  clockLookMs?: number
  /** Standbys that each partition is to have. Default: 1. */
  standbys?: number
  /** How long before its time a burst may be dispatched. Default: the same as for other attempts. */
  leadMsMax?: number
  /** By how many ms single definitions delay the next fetch. Default: not at all. */
  readPaceMs?: number
  /** Whether owners write records of ended runs. Default: yes. */
  recordsRuns?: boolean
  /** How long single commits take. That makes owners dispatch everything ahead. Default: no time. */
  slowCommitsMs?: readonly number[] | undefined
  registryThere: boolean
  /** Share of writes to stores that fail. */
  storeFailures: number
  /** Disks that fail every operation. */
  brokenDisks: Set<Disk>
  /** Whether a read of a store fails. Default: none does. */
  readFails?: (what: 'get' | 'scan') => boolean
  /** Whether processes look for open transactions. Default: no. */
  showsHighWatermarks?: boolean
  /** How long searches pause. Default: until all other work has had its turn. */
  spare?: Pick<IdleTime, 'rest'>
  /** The workers of the pool and their handlers. Default: owners learn of no worker. */
  workers?: PoolMembers
  /** The members of the group of the real workers, if these have different handlers. Default: owners learn of no worker. */
  realWorkers?: () => GroupMember[]
  /** The pool is paused and resumed. Default: never, and no process reads the pauses. */
  pauses?: Pauses
  /** Whether users have large payloads. */
  isHeavy?: boolean
  /** Whether many runs are active while everything is full. */
  getsFull?: boolean
  /** The memory of its processes. */
  fullness: Fullness
  /** Ends transactions that clients have left open. */
  openTransactions: (() => void)[]
}

export const noFaults = { slowMs: 0, registryThere: true, storeFailures: 0, isFull: false }

/** A codec of a process that asks a registry for its schema. The registry may be unreachable. */
export function asking<Value, Input>(cluster: Cluster, codec: Codec<Value, Input>): Codec<Value, Input> {
  let isKnown = !isOn('registry')
  return {
    encode: (value) => codec.encode(value),
    decode: (bytes) => {
      isKnown ||= cluster.registryThere
      if (isKnown) return codec.decode(bytes)
      return Promise.reject(new DuelogError('registry-unavailable', 'The registry does not answer.'))
    },
  }
}

function askingCodecs(cluster: Cluster): typeof codecs {
  const { definition, command, event } = codecs as unknown as Record<string, Codec<never>>
  return {
    ...codecs,
    definition: asking(cluster, definition as never),
    command: asking(cluster, command as never),
    event: asking(cluster, event as never),
  } as typeof codecs
}

/** The time zone rules of a process, and the function that runs code under them. */
export interface Zones {
  version: string
  under<T>(run: () => T): T
}
const ofThisNode: Zones = { version: 'here', under: (run) => run() }

/** The content of a disk. It outlives the processes on it. */
export type Disk = Map<number, MemoryStore>

export class Process {
  readonly machine: Machine
  readonly disk: Disk
  readonly scheduler: Scheduler
  readonly clock: GuardedClock
  member: Member | undefined
  readonly fatal: Error[] = []
  readonly #watch: () => void
  readonly #pauseBook: PauseBook | undefined
  /** The readers of its pauses. */
  readonly pauseMembers: Member[] = []
  readonly heard: Heard | undefined
  readonly cycleEnds: CycleEnds
  readonly zones: Zones
  started = false
  /** Whether the process has seen that topic, and how often it appeared. */
  ordersSeen: boolean
  /** How often an owner asked for it in vain. */
  ordersAsked = 0
  #appeared = 0
  #tellAppeared = (): void => {}

  constructor(cluster: Cluster, name: string, disk: Disk, zones: Zones = ofThisNode) {
    this.zones = zones
    this.machine = new Machine(name, cluster.time)
    this.disk = disk
    this.ordersSeen = cluster.ordersThere
    this.clock = processClock({
      ...{
        clock: this.machine.clock,
        stepMsMax: cluster.clockStepMsMax ?? 0,
        needsProof: true,
        lookMs: cluster.clockLookMs ?? 10_000,
      },
      ...{ metrics, logger: logger.child({ machine: name }) },
    })
    const log = logOf(cluster, this)
    this.heard = cluster.pauses && new Heard(cluster.pauses)
    this.cycleEnds = new CycleEnds(metrics, (partition) => this.heard?.betweenCycles(partition))
    this.#pauseBook = this.heard && pauseBookOf(cluster, this, this.heard)
    this.#watch = () => {
      if (cluster.clockStepMsMax === undefined) return
      watchClock(this.clock, { log, topics: [names.jobs], partitions: cluster.log.partitions, instance: name })
    }
    this.scheduler = new Scheduler({
      // The real pause of a search depends on how busy this thread is, and no seed controls that.
      spare: cluster.spare ?? { rest: () => new Promise<void>(setImmediate) },
      log,
      codecs: askingCodecs(cluster),
      names,
      prefix: 'model.',
      partitions: cluster.log.partitions,
      instance: name,
      userData: () => null,
      stores: storesOf(cluster, this),
      clock: this.clock,
      metrics: this.cycleEnds.metrics,
      pauses: this.#pauseBook,
      logger: logger.child({ machine: name }),
      standbys: cluster.standbys ?? 1,
      zoneRules: zones.version,
      leadMs,
      leadMsMax: cluster.leadMsMax ?? leadMs,
      lingerMs,
      readPaceMs: cluster.readPaceMs ?? 0,
      recordsRuns: cluster.recordsRuns ?? true,
      tombstoneRetentionMs,
      targets: this.#targets(cluster),
      onFatal: (error) => this.fatal.push(error),
    })
  }

  #targets(cluster: Cluster): TargetTopics {
    const appeared = (): number => this.#appeared
    return {
      problem: ({ name }) => {
        if (name !== ordersTopic || this.ordersSeen) return undefined
        this.ordersAsked++
        return 'Topic orders does not exist.'
      },
      seek: (topic) => (topic === ordersTopic && !this.ordersSeen ? this.lookAtTopics(cluster) : undefined),
      poolProblem: () => undefined,
      seekPool: () => undefined,
      failed: () => this.lookAtTopics(cluster),
      get appeared() {
        return appeared()
      },
      onAppeared: (listener) => {
        this.#tellAppeared = listener
        return () => undefined
      },
    }
  }

  /** The check of topics that Duelog makes every 30 seconds. */
  lookAtTopics(cluster: Cluster): Promise<void> {
    return cluster.io.submit(this.machine, 'looks at the topics', () => {
      const hasAppeared = cluster.ordersThere && !this.ordersSeen
      this.ordersSeen = cluster.ordersThere
      if (!hasAppeared) return
      this.#appeared++
      this.#tellAppeared()
    })
  }

  start(): void {
    this.#watch()
    const starts = (): Promise<void> => this.zones.under(() => this.scheduler.start())
    // As a process does (src/program/system): first it knows the pauses.
    const started = this.#pauseBook === undefined ? starts() : this.#pauseBook.start().then(starts)
    void started.then(
      () => {
        this.started = true
      },
      (error) => this.fatal.push(error as Error),
    )
  }

  /** As after SIGTERM. */
  async stop(): Promise<void> {
    await this.scheduler.stop()
    await this.#pauseBook?.stop()
  }
}

function pauseBookOf(cluster: Cluster, { machine, clock, pauseMembers }: Process, heard: Heard): PauseBook {
  const { groups } = cluster.pauses ?? {}
  const joined = (member: Member): void => void pauseMembers.push(member)
  const log = heard.in(simulatedLog(cluster, machine, groups ?? new Map(), joined, () => undefined, clock.appended))
  const codec = asking(cluster, codecs.pause)
  return new PauseBook({
    log,
    codec,
    names,
    instance: machine.name,
    clock,
    metrics,
    logger: logger.child({ machine: machine.name }),
  })
}

function logOf(cluster: Cluster, process: Process): Log {
  const { log, io, group, chance } = cluster
  const { machine } = process
  const unknown = (what: string): Error => new DuelogError('broker-unavailable', `The answer to ${what} was lost.`)
  return {
    reader(options): GroupReader {
      const { onAssigned, onBatch, ...rest } = options
      const { under } = process.zones
      const given = new Given(machine.name, cluster.fullness, () => process.scheduler.queries.partitions())
      process.member = new Member(machine, group, {
        ...rest,
        onAssigned: (assigned, generation) => under(() => onAssigned(assigned, generation)),
        onBatch: (batch) => {
          given.took(batch)
          return under(() => onBatch(batch))
        },
      })
      process.member.onSeek = (position) => given.sought(position)
      return process.member
    },
    async admin(): Promise<LogAdmin> {
      const rangesOf = (topic: string) =>
        Array.from({ length: log.partitions }, (_, partition) => {
          const { earliest, stableEnd } = log.at(topic, partition)
          return { partition, earliest, next: stableEnd }
        })
      return {
        offsets: (topic) => io.submit(machine, `asks for the offsets of ${topic}`, () => rangesOf(topic)),
        offsetsOf: (topics) =>
          io.submit(machine, 'asks for the offsets of topics', () => new Map(topics.map((topic) => [topic, rangesOf(topic)]))),
        ...(cluster.showsHighWatermarks && {
          highWatermarks: async (topic: string) =>
            new Map(Array.from({ length: log.partitions }, (_, partition) => [partition, log.at(topic, partition).next])),
        }),
        clusterId: () => io.submit(machine, 'asks for the cluster', () => cluster.clusterId),
        committed: async () => [],
        committedOf: async () => new Map(),
        groupMembers: (groupId) => {
          const { workers, realWorkers = workers && (() => workers.members) } = cluster
          if (realWorkers === undefined || !groupId.includes('exec.')) return Promise.resolve([])
          return io.submit(machine, `asks for the members of ${groupId}`, realWorkers)
        },
        groups: async () => [],
        close: async () => {},
      }
    },
    async writer(): Promise<LogWriter> {
      return {
        write: (records) => {
          const sentMs = machine.clock.steadyMs()
          return io.submit(machine, 'writes', () => {
            if (chance.happens(cluster.lossiness) || cluster.isFull) throw unknown('a write that did not arrive')
            const offsets = log.append(records)
            tellTime(cluster, process.clock.appended, machine, records, sentMs)
            if (chance.happens(cluster.lossiness)) throw unknown('a write')
            return offsets
          })
        },
        close: async () => {},
      }
    },
    transactionalWriter: async (id, { mayFence } = {}) => {
      await mayFence?.()
      return transactionalWriter(cluster, process, id)
    },
  }
}

async function transactionalWriter(cluster: Cluster, process: Process, id: string): Promise<TransactionalWriter> {
  const { log, io, chance } = cluster
  const { machine } = process
  const lost = (): boolean => chance.happens(cluster.lossiness)
  const epoch = await io.submit(machine, `fences ${id}`, () => {
    if (lost()) throw new DuelogError('broker-unavailable', 'The fence was not answered.')
    return log.fence(id)
  })
  const partition = Number(/\d+$/.exec(id)?.[0])
  process.heard?.betweenCycles(partition)
  let finished = false
  return {
    async commit(records: RecordOut[]) {
      if (finished) throw new Error('The writer is finished.')
      finished = true
      const tell = process.heard?.sends(partition)
      const sentMs = machine.clock.steadyMs()
      const offsets = await io.submit(machine, 'sends a transaction', () => {
        const misses = !cluster.ordersThere && records.some(({ topic }) => topic === ordersTopic)
        if (misses) throw new DuelogError('broker-unavailable', 'Topic orders does not exist.')
        const bytes = records.reduce((sum, { value }) => sum + (value?.length ?? 0), 0)
        cluster.fullness.written = Math.max(cluster.fullness.written, bytes)
        const transaction = log.begin(id, epoch)
        tell?.(transaction)
        return log.append(records, transaction)
      })
      tellTime(cluster, process.clock.appended, machine, records, sentMs)
      const slowMs = cluster.slowMs + (cluster.slowCommitsMs === undefined ? 0 : chance.pick(cluster.slowCommitsMs))
      if (slowMs > 0) await new Promise<void>((resolve) => machine.clock.at(machine.clock.nowMs() + slowMs, resolve))
      await io.submit(machine, 'commits', () => {
        if (lost()) throw new DuelogError('broker-unavailable', 'The commit did not arrive.')
        log.commit(id, epoch)
        if (lost()) throw new DuelogError('broker-unavailable', 'The answer to the commit was lost.')
      })
      finished = false
      process.heard?.betweenCycles(partition)
      return offsets
    },
    close: async () => {},
  }
}

function storesOf(cluster: Cluster, process: Process): PartitionStores {
  const { machine, disk } = process
  const { io, brokenDisks } = cluster
  return {
    open: (partition) =>
      io.submit(machine, `opens store ${partition}`, () => {
        if (brokenDisks.has(disk)) throw new Error('Input/output error.')
        const store = disk.get(partition) ?? memoryStore()
        disk.set(partition, store)
        return { store: opened(cluster, process, store, partition), wiped: undefined }
      }),
    held: async () => [...disk.keys()],
    wipe: (partition) => io.submit(machine, `wipes store ${partition}`, () => void disk.delete(partition)),
  }
}

/** A store as its process sees it: every operation fails once it is closed. */
function opened(cluster: Cluster, process: Process, store: MemoryStore, partition: number): PartitionStore {
  const { machine, scheduler, disk } = process
  const isActive = (): boolean =>
    scheduler.queries.partitions().some((view) => view.partition === partition && view.phase === 'active')
  const { io, chance } = cluster
  const loaded = new Loaded(machine.name, partition, cluster.fullness, () => process.cycleEnds.of(partition))
  let closed = false
  const open = <T>(name: string, effect: () => T): Promise<T> => {
    if (closed) return Promise.reject(new Error(`The store is closed: ${name}.`))
    return io.submit(machine, name, () => {
      if (cluster.brokenDisks.has(disk)) throw new Error('Input/output error.')
      return effect()
    })
  }
  const readable = (what: 'get' | 'scan'): MemoryStore => {
    if (cluster.readFails?.(what)) throw new Error('Input/output error.')
    return store
  }
  return {
    get: (keys) =>
      open('reads', () => {
        const values = readable('get').getNow(keys)
        loaded.read(keys, values, isActive(), cluster.time.nowMs)
        return values
      }),
    scan: (options) => open('scans', () => readable('scan').scanNow(options)),
    apply: (ops) =>
      open('applies', () => {
        if (cluster.storeFailures > 0 && chance.happens(cluster.storeFailures)) throw new Error('The disk is full.')
        store.applyNow(ops)
        loaded.written(ops)
      }),
    compact: () => open('compacts', () => undefined),
    bytes: async () => 0,
    close: async () => {
      closed = true
      await io.submit(machine, 'closes a store', () => undefined)
    },
  }
}
