/**
 * One history: processes, users, workers and failures, step by step as the seed says, then no more failures until all has come to
 * rest.
 */
import { checkpointKey, positionKey } from '../../../src/scheduler/state/checkpoint.ts'
import { Chance } from '../../../src/testing/simulation/chance.ts'
import { Group, type Sharing } from '../../../src/testing/simulation/group.ts'
import { Io } from '../../../src/testing/simulation/io.ts'
import { VirtualTime } from '../../tools/manual-clock.ts'
import { isShown, MemoryLog, type PartitionLog } from '../../tools/memory-log.ts'
import type { MemoryStore } from '../../tools/memory-store.ts'
import { codecs, names } from '../world.ts'
import { Forwarder, Users, Workers } from './actors.ts'
import { Doers, partsOf } from './doers.ts'
import { endFaults, faults } from './faults.ts'
import { Foreigners } from './foreigners.ts'
import { Fullness } from './fullness.ts'
import { Operations } from './operations.ts'
import { Pauses } from './pauses.ts'
import { PoolMembers } from './pool-members.ts'
import { type Cluster, type Disk, noFaults, Process } from './process.ts'
import { isOn, type Switch } from './switches.ts'

const dayMs = 86_400_000
/** In one of this many histories the assignment is random. In the others the group assigns as in production. */
const unruledEach = 4
const transactionTimeoutMs = 15_000
const sessionMs = 10_000
/** One of this many histories has large payloads. */
const heavyEach = 7

/** In one of this many histories owners may dispatch ahead of time, and their commits sometimes take long. */
const aheadEach = 3

/** In one of this many histories single definitions are read in portions. */
const pacedEach = 2

/**
 * In one of this many histories everything becomes full while many runs are active, no clock is wrong, and no log loses anything.
 * There, a run with a report in time must not be given up.
 */
const fullEach = 5

/** In one of this many histories the workers have different handlers, join and leave: test doubles or the real ones. */
const mixedEach = 3

/** In one of this many histories an operator changes many jobs at once. */
const operatedEach = 4

/** In one of this many histories the pool of all jobs is paused, drained and resumed. */
const pausedEach = 5

type Fault =
  | 'kill'
  | 'stop'
  | 'freeze'
  | 'thaw'
  | 'rebalance'
  | 'clock'
  | 'lossy'
  | 'reliable'
  | 'disk'
  | 'compact'
  | 'long-time'
  | 'boot'
  | 'topic'
  | 'workers'
  | 'pauses'
  | Switch

function sharingOf(seed: number, chance: Chance): Sharing {
  const sharing = chance.happens(0.6) ? 'standbys' : 'owners'
  return seed % unruledEach === 3 ? sharing : 'by the rule'
}

export class Simulation {
  readonly time = new VirtualTime()
  readonly chance: Chance
  readonly cluster: Cluster
  readonly log: MemoryLog
  readonly users: Users
  readonly workers: Workers
  readonly forwarder: Forwarder
  /** The real processes around the scheduler. The others are test doubles. */
  readonly doers: Doers
  readonly #foreigners: Foreigners
  /** Undefined: nobody changes many jobs at once. */
  readonly operations: Operations | undefined
  /** The steps of the history, for the analysis of a failure. */
  readonly trace: string[] = []
  readonly slots: { process: Process | undefined; disk: Disk; old: Disk; boots: number }[] = []
  readonly #faults: Partial<Record<Fault, number>>
  readonly #everyone: Process[] = []
  /** Periods in which failures affected single jobs at most. */
  readonly calms: { fromMs: number; toMs: number }[] = []
  /** The most that any machine's clock was ahead of true time, and behind. */
  aheadMs = 0
  behindMs = 0

  constructor(seed: number) {
    this.chance = new Chance(seed)
    const { chance, time } = this
    this.log = new MemoryLog(2, () => time.nowMs)
    const io = new Io(chance)
    const group = new Group(this.log, io, chance, sharingOf(seed, chance))
    this.cluster = {
      time,
      log: this.log,
      io,
      group,
      groups: new Set([group]),
      chance,
      lossiness: 0,
      clusterId: 'here',
      ordersThere: true,
      getsFull: seed % fullEach === 0,
      isHeavy: isOn('sizes') && seed % heavyEach === 0,
      ...(seed % aheadEach === 0 && { leadMsMax: 4_000, slowCommitsMs: [0, 60, 400] }),
      ...(seed % pacedEach === 0 && { readPaceMs: 10 }),
      // Only for histories whose clocks may be far wrong. In the others the clocks are slightly wrong, within the error that
      // owners accept.
      ...(isOn('clockSteps') && { clockStepMsMax: 6_000 }),
      ...noFaults,
      ...{ fullness: new Fullness(), brokenDisks: new Set<Disk>(), openTransactions: [] },
    }
    if (seed % pausedEach === 2) this.cluster.pauses = new Pauses(this.cluster)
    this.users = new Users(this.cluster)
    this.operations = seed % operatedEach === 1 ? new Operations(this.cluster) : undefined
    const isMixed = seed % mixedEach === 1
    if (isMixed && !partsOf(seed).has('executor')) this.cluster.workers = new PoolMembers(chance)
    this.workers = new Workers(this.cluster)
    this.forwarder = new Forwarder(this.cluster)
    // Each history has only some kinds of failures, so some histories get far and others are rough.
    const all: Partial<Record<Fault, number>> = {
      kill: 3,
      stop: 1,
      freeze: 2,
      rebalance: 2,
      clock: 2,
      lossy: 2,
      disk: 2,
      compact: 2,
      'long-time': 0.3,
      topic: 2,
    }
    for (const [name, { weight }] of Object.entries(faults)) if (isOn(name as Switch)) all[name as Switch] = weight
    for (const name of Object.keys(all) as Fault[]) if (chance.happens(0.4)) delete all[name]
    if (this.cluster.getsFull) fill(all)
    this.#faults = {
      ...all,
      thaw: 4,
      reliable: 2,
      boot: 5,
      ...(this.cluster.workers && { workers: 6 }),
      ...(this.cluster.pauses && { pauses: 14 }),
    }
    const machines = chance.pick([1, 2, 2])
    for (let slot = 0; slot < machines; slot++) this.slots.push({ process: undefined, disk: new Map(), old: new Map(), boots: 0 })
    for (const index of this.slots.keys()) this.#boot(index)
    this.#foreigners = new Foreigners(this.cluster)
    this.doers = new Doers(this.cluster, partsOf(seed), isMixed)
    // Gives the real forwarder something to forward.
    if (this.doers.parts.has('forwarder')) {
      this.workers.fates = { ...this.workers.fates, fail: 30 }
      this.workers.retryAfterMs = [null, 1_000, 1_400, 3_000, 6_000]
    }
  }

  /** Runs this number of steps. */
  async live(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) await this.#step(true)
  }

  /**
   * Lets the cluster rest without failures, at least this long, until nothing is left to do for now. `how`: the topic that jobs
   * write to may stay missing, and the pool may stay paused.
   */
  async rest(forMs: number, how: 'all is well' | 'without orders' | 'paused' = 'all is well'): Promise<void> {
    const calm = { fromMs: this.time.nowMs, toMs: this.time.nowMs }
    this.calms.push(calm)
    this.cluster.lossiness = 0
    endFaults(this.cluster)
    if (how === 'all is well') this.#orders(true)
    if (how !== 'paused' && this.cluster.pauses?.isPaused) this.cluster.pauses.resume()
    this.workers.fates = { succeed: 1 }
    this.cluster.workers?.rest()
    for (const { process } of this.slots) {
      if (process === undefined) continue
      process.machine.clock.stopped = false
      process.machine.clock.skewMs = 0
    }
    this.doers.rest()
    const until = this.time.nowMs + forMs
    for (let steps = 0; ; steps++) {
      if (steps > 100_000) throw new Error('The cluster does not come to rest.')
      for (const [index, { process }] of this.slots.entries()) if (process === undefined) this.#boot(index)
      this.doers.boot()
      if (this.time.nowMs >= until && !(await this.#busy())) return
      await this.#step(false)
      calm.toMs = this.time.nowMs
    }
  }

  /** Leaves one process, which has only the log. */
  async startAnew(): Promise<Process> {
    for (const [index, { process }] of this.slots.entries()) if (process !== undefined) this.#kill(index)
    for (const member of this.cluster.group.members) this.cluster.group.leave(member)
    const slot = { process: undefined, disk: new Map(), old: new Map(), boots: 0 }
    this.slots.splice(0, this.slots.length, slot)
    const process = this.#boot(0)
    for (let steps = 0; !process.scheduler.active || (await this.#busy()); steps++) {
      if (steps > 50_000) throw new Error('The fresh process does not become active.')
      await this.#step(false)
    }
    return process
  }

  /** The owner's store of each partition, once at rest. */
  ownedStores(): Map<number, MemoryStore> {
    const stores = new Map<number, MemoryStore>()
    for (const { process } of this.slots) {
      for (const { partition, phase } of process?.scheduler.queries.partitions() ?? []) {
        const store = process?.disk.get(partition)
        if (phase === 'active' && store !== undefined) stores.set(partition, store.copy())
      }
    }
    return stores
  }

  /** The store of each standby, once at rest. Standbys that lack records are left out. */
  followedStores(): { partition: number; store: MemoryStore }[] {
    return this.slots.flatMap(({ process }) =>
      (process?.scheduler.queries.partitions() ?? []).flatMap(({ partition, phase, behindRecords }) => {
        const store = process?.disk.get(partition)
        return phase === 'following' && behindRecords === 0 && store !== undefined ? [{ partition, store: store.copy() }] : []
      }),
    )
  }

  get problems(): string[] {
    const fatal = this.#everyone.flatMap((process) => process.fatal.map((error) => `${process.machine.name}: ${error.message}`))
    return [...[...this.cluster.groups].flatMap(({ faults }) => faults), ...fatal, ...this.doers.problems]
  }

  async #busy(): Promise<boolean> {
    await calm()
    const { io, group } = this.cluster
    const moves = [...this.#members()].some((member) => member.moves.length > 0)
    const { nowMs, nextMs } = this.time
    // Records that were read may wait for the linger, with nothing in flight.
    const inputRecord = this.slots.some(({ process }) =>
      process?.scheduler.queries.partitions().some(({ mailboxDepth, role }) => mailboxDepth > 0 && role === 'owner'),
    )
    return (
      io.ready > 0 ||
      moves ||
      inputRecord ||
      nextMs <= nowMs ||
      this.#forwardMs <= nowMs ||
      this.#hasWork ||
      group.members.size === 0
    )
  }

  /** For the test doubles. */
  get #forwardMs(): number {
    return this.doers.parts.has('forwarder') ? Number.POSITIVE_INFINITY : this.forwarder.nextMs
  }

  get #hasWork(): boolean {
    return !this.doers.parts.has('executor') && this.workers.ready
  }

  #members() {
    const others = this.doers.members
    const schedulers = this.#everyone.flatMap(({ member, pauseMembers, machine }) =>
      machine.alive ? [...(member === undefined ? [] : [member]), ...pauseMembers] : [],
    )
    return others.length > 0 ? [...schedulers, ...others] : schedulers
  }

  async #step(rough: boolean): Promise<void> {
    await calm()
    const { chance, time, cluster } = this
    const moves = this.#members().flatMap((member) => member.moves.map((move) => ({ member, move })))
    const others = {
      io: cluster.io.ready > 0 ? 12 : 0,
      move: moves.length > 0 ? 6 : 0,
      timer: time.nextMs <= time.nowMs ? 6 : 0,
      work: this.#hasWork ? 2 : 0,
      forward: this.#forwardMs <= time.nowMs ? 2 : 0,
      user: rough ? 0.5 : 0,
      foreigner: rough && this.doers.parts.has('intake') ? 0.3 : 0,
      operation: rough && this.operations ? 0.5 : 0,
      fault: rough ? (cluster.pauses ? 0.3 : 0.15) : 0,
      tick: rough ? 0.6 : 0,
    }
    // A disk that takes a second is a fault: at rest it would be taken for lateness of the owner (seed 50043).
    const isWork = !rough && Object.values(others).some((weight) => weight > 0)
    const what = chance.weighted({ ...others, idle: isWork ? 0 : 0.0001 })
    if (what === 'io') this.#note(cluster.io.step())
    else if (what === 'move') {
      const { member, move } = chance.pick(moves)
      this.#note(`${member.machine.name} ${move}`)
      member.move(move)
    } else if (what === 'timer') time.runDue()
    else if (what === 'work') this.workers.take()
    else if (what === 'forward') this.forwarder.forward()
    else if (what === 'user') this.#note(this.users.act())
    else if (what === 'foreigner') this.#note(this.#foreigners.act())
    else if (what === 'operation') this.#operate()
    else if (what === 'fault') this.#beginFault(chance.weighted(this.#faults))
    else if (what === 'tick') this.#advance(chance.pick([1, 5, 30, 300]))
    else this.#advance(chance.int(500, 2_000))
  }

  #operate(): void {
    const { process } = this.chance.pick(this.slots)
    if (process !== undefined) this.#note(this.operations?.act(process) ?? '')
  }

  /** Advances to the next event that is due, at most this much later. */
  #advance(maxMs: number): void {
    const { time } = this
    const next = Math.min(time.nextMs, this.#forwardMs)
    time.nowMs = Math.max(time.nowMs, Math.min(next, time.nowMs + maxMs))
    this.log.expireTransactions(transactionTimeoutMs)
    for (const group of this.cluster.groups) {
      for (const member of group.members) if (time.nowMs - member.machine.diedAt >= sessionMs) group.leave(member)
    }
  }

  #beginFault(what: Fault | undefined): void {
    const { chance, cluster, time } = this
    const index = chance.int(0, this.slots.length - 1)
    const slot = this.slots[index]
    if (slot === undefined || what === undefined) return
    if (this.doers.parts.size > 0 && chance.happens(0.5)) {
      const suffered = this.doers.suffer(what)
      if (suffered !== undefined) return this.#note(suffered)
    }
    const { process } = slot
    this.#note(`— ${what} ${index}`)
    if (what === 'kill' && process !== undefined) this.#kill(index)
    else if (what === 'boot' && process === undefined) this.#boot(index)
    else if (what === 'stop' && process?.started && !process.machine.frozen) this.#stop(index, process)
    else if (what === 'freeze' && process !== undefined) {
      process.machine.clock.stopped = true
      if (chance.happens(0.7)) cluster.group.rebalance()
    } else if (what === 'thaw' && process !== undefined) process.machine.clock.stopped = false
    else if (what === 'rebalance') cluster.group.rebalance()
    else if (what === 'clock' && process !== undefined) this.#setClock(process, chance.int(-5_000, 5_000))
    else if (what === 'lossy') cluster.lossiness = 0.15
    else if (what === 'reliable') cluster.lossiness = 0
    else if (what === 'compact') this.#compact()
    else if (what === 'long-time') time.nowMs += chance.pick([60_000, 3_600_000, 2 * dayMs, 6 * dayMs, 9 * dayMs])
    else if (what === 'disk') this.#damage(index)
    else if (what === 'topic') this.#orders(!cluster.ordersThere)
    else if (what === 'workers') cluster.workers?.change()
    else if (what === 'pauses') this.#pause(process)
    else faults[what as Switch]?.begin({ cluster, process, setClock: this.#setClock.bind(this) })
  }

  /** Sometimes a process loses the reader of its pauses instead. */
  #pause(process: Process | undefined): void {
    if (this.chance.happens(0.1)) process?.pauseMembers.at(-1)?.crash()
    else this.#note(this.cluster.pauses?.act() ?? '')
  }

  #setClock({ machine: { clock } }: Process, byMs: number): void {
    clock.skewMs += byMs
    this.aheadMs = Math.max(this.aheadMs, clock.skewMs)
    this.behindMs = Math.max(this.behindMs, -clock.skewMs)
  }

  /** Creates or deletes the topic that jobs write to. Running processes notice it some time later. */
  #orders(there: boolean): void {
    this.cluster.ordersThere = there
    for (const { process } of this.slots) void process?.lookAtTopics(this.cluster)
  }

  #boot(index: number): Process {
    const slot = this.slots[index]
    if (slot === undefined) throw new Error(`There is no machine ${index}.`)
    const process = new Process(this.cluster, `${index}.${slot.boots++}`, slot.disk)
    slot.process = process
    this.#everyone.push(process)
    process.start()
    return process
  }

  #kill(index: number): void {
    const slot = this.slots[index]
    const process = slot?.process
    if (slot === undefined || process === undefined) return
    process.machine.clock.stopped = true
    process.machine.alive = false
    this.cluster.io.drop(process.machine)
    process.machine.diedAt = this.time.nowMs
    slot.process = undefined
  }

  /** Ends a process as SIGTERM does. Its machine boots no other process before that. */
  #stop(index: number, process: Process): void {
    process.started = false
    void process.stop().then(() => {
      const slot = this.slots[index]
      if (slot?.process !== process) return
      process.machine.alive = false
      slot.process = undefined
    })
  }

  /** Damages a disk while no process uses it: it is lost, an old copy comes back, or it comes from another cluster. */
  #damage(index: number): void {
    const slot = this.slots[index]
    if (slot === undefined) return
    const copy: Disk = new Map([...slot.disk].map(([partition, store]) => [partition, store.copy()]))
    if (slot.process === undefined) {
      const fate = this.chance.pick(['lost', 'old', 'foreign'] as const)
      this.#note(`disk ${index} ${fate}`)
      if (fate !== 'foreign') slot.disk.clear()
      if (fate === 'old') for (const [partition, store] of slot.old) slot.disk.set(partition, store.copy())
      if (fate === 'foreign') for (const store of slot.disk.values()) makeForeign(store)
    }
    slot.old = copy
  }

  #compact(): void {
    const { log, chance, time } = this
    for (let partition = 0; partition < log.partitions; partition++) {
      const state = log.at(names.state, partition)
      log.compact(state, chance.int(state.earliest, state.next), 7 * dayMs)
      const jobs = log.at(names.jobs, partition)
      const young = jobs.entries.find(({ at }) => at > time.nowMs - dayMs)
      // A record that was compacted before any owner read it counts as never written (docs/adr/0009). The model does not judge
      // what follows from it.
      log.compact(jobs, Math.min(young?.offset ?? jobs.next, jobsOffsetIn(state)), 7 * dayMs)
      for (const topic of [names.commands, names.events]) log.expire(log.at(topic, partition), time.nowMs - 7 * dayMs)
      if (this.cluster.pauses) log.compact(log.at(names.pauses, partition), log.at(names.pauses, partition).next, 7 * dayMs)
    }
  }

  #note(what: string): void {
    this.trace.push(`${this.time.nowMs - 1_800_000_000_000} ${what}`)
  }
}

function fill(all: Partial<Record<Fault, number>>): void {
  const others = ['clock', 'clockSteps', 'truncation', 'recreation', 'openTransactions', 'registry'] as const
  for (const name of others) delete all[name]
  for (const name of ['floods', 'fullBrokers'] as const) if (isOn(name)) all[name] = 1.5
}

/** The offset in `jobs` of the last committed position. */
export function jobsOffsetIn(changelog: PartitionLog): number {
  const last = changelog.entries.findLast((entry) => isShown(entry) && entry.record?.key?.equals(positionKey))
  const value = last?.record?.value
  if (!value) return 0
  const entry = codecs.state.decode(value)
  return entry instanceof Promise ? 0 : (entry.position?.jobsOffset ?? 0)
}

function makeForeign(store: {
  getNow(keys: Buffer[]): (Buffer | null)[]
  applyNow(ops: { key: Buffer; value: Buffer }[]): void
}): void {
  const [value] = store.getNow([checkpointKey])
  if (!value) return
  const local = { ...JSON.parse(value.toString()), clusterId: 'elsewhere' }
  store.applyNow([{ key: checkpointKey, value: Buffer.from(JSON.stringify(local)) }])
}

/** Waits until all promises have run. None of them waits for anything outside. */
function calm(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
