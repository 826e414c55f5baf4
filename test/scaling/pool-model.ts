/**
 * A pool on one or more machines, second by second: runs come due, wait for a slot and are at work. Measurement, decision and scaler are
 * the real ones. The model knows nothing of their formula: it knows queues, slots, processes that need time to start, and a group.
 */
import { ProcessScaler } from '../../src/server/scaling/index.ts'
import { PoolLoads } from '../../src/server/scaling/pool-loads.ts'
import { topicNames } from '../../streams/topics/index.ts'
import { ManualClock, VirtualTime } from '../tools/manual-clock.ts'

const names = topicNames('t.')
const usual = names.executions('mail', 'NORMAL')
/** A process needs this long until it is a member of its group. */
const startMs = 4_000
/** A member that has died is removed after this time, and its runs are lost after this one. */
const sessionMs = 10_000
const leaseMs = 30_000
const partitions = 64

export interface MachinePlan {
  min: number
  max: number
  /** Its wall clock minus the true time. */
  skewMs?: number
}

export interface PoolPlan {
  /** Runs that come due in a second. */
  comes(second: number): number
  /** How long the handler of a run that came in this second works. */
  workMs(second: number): number
  slots: number
  /** Whether they follow from schedules. Else nobody knows of them before. */
  isForeseen: boolean
  machines: MachinePlan[]
  coolDownMs?: number
  /** Runs gather for this long, and are then at work in one slot. */
  gatherMs?: number
  /** The worker tells nothing of what it gathers, as one of an earlier version. */
  isSilent?: boolean
  /** While it is true, nothing starts, for the reason that all wait for one partition or that their handler blocks. */
  isStuck?(second: number): boolean
  /** The pool is paused, and what comes due waits at its owner. */
  isPaused?(second: number): boolean
  /** The brokers answer nobody. */
  isDark?(second: number): boolean
}

interface Process {
  joinsAtMs: number
  /** When each slot is free. */
  slots: number[]
  isPaused: boolean
  isStopping: boolean
}

class Machine {
  readonly plan: MachinePlan
  readonly parent: string
  readonly processes: Process[] = []
  readonly #pool: Pool

  constructor(pool: Pool, plan: MachinePlan, index: number) {
    this.plan = plan
    this.parent = `duelog@machine-${index}:1:a`
    this.#pool = pool
    this.scaleTo(plan.min)
  }

  get running(): number {
    return this.processes.filter(({ isStopping }) => !isStopping).length
  }

  get paused(): number {
    return this.processes.filter(({ isStopping, isPaused }) => !isStopping && isPaused).length
  }

  scaleTo(wanted: number): void {
    const { nowMs, plan } = this.#pool
    while (this.running < wanted && this.processes.length < this.plan.max)
      this.processes.push({
        ...{ joinsAtMs: nowMs + startMs, slots: new Array<number>(plan.slots).fill(0) },
        ...{ isPaused: false, isStopping: false },
      })
    for (const process of this.processes.toReversed()) if (this.running > wanted) process.isStopping = true
  }

  /** Those that have stopped and finished their handlers are gone. */
  settle(nowMs: number): void {
    for (const process of [...this.processes])
      if (process.isStopping && process.slots.every((freeAtMs) => freeAtMs <= nowMs))
        this.processes.splice(this.processes.indexOf(process), 1)
  }

  members(nowMs: number): Process[] {
    return this.processes.filter(({ joinsAtMs, isPaused, isStopping }) => joinsAtMs <= nowMs && !isPaused && !isStopping)
  }
}

export class Pool {
  readonly plan: PoolPlan
  readonly machines: Machine[]
  readonly #time = new VirtualTime(1_800_000_000_000)
  readonly #beganMs = this.#time.nowMs
  readonly #scalers: ProcessScaler[]
  readonly #queue: { dueMs: number; workMs: number }[] = []
  #atOwner = 0
  #came = 0
  #ghosts: { untilMs: number; parent: string }[] = []
  #lost: { atMs: number; runs: number; workMs: number }[] = []
  #gathering: { sinceMs: number; runs: number } | undefined
  /** Runs that are at work in the slot of another. */
  #sharing: { runs: number; untilMs: number }[] = []
  #committed: { partition: number; offset: number; metadata?: string } = { partition: 0, offset: 0 }
  /** ms from due to start of each run. */
  readonly waits: { dueSecond: number; waitMs: number }[] = []
  /** Processes of each machine, for each second. */
  readonly counts: number[][] = []

  constructor(plan: PoolPlan) {
    this.plan = plan
    this.machines = plan.machines.map((machine, index) => new Machine(this, machine, index))
    this.#scalers = this.machines.map((machine) => this.#scaler(machine))
    for (const scaler of this.#scalers) scaler.start()
  }

  get nowMs(): number {
    return this.#time.nowMs
  }

  get second(): number {
    return (this.nowMs - this.#beganMs) / 1_000
  }

  get waiting(): number {
    return this.#queue.length + this.#atOwner
  }

  async run(seconds: number, each?: (second: number) => void): Promise<this> {
    for (let until = this.second + seconds; this.second < until; ) {
      this.#arrive()
      each?.(this.second)
      this.#start()
      this.#commit()
      await this.#time.advance(1_000)
      for (const machine of this.machines) machine.settle(this.nowMs)
      this.counts.push(this.machines.map(({ processes }) => processes.length))
    }
    return this
  }

  async stop(): Promise<void> {
    await Promise.all(this.#scalers.map((scaler) => scaler.stop()))
  }

  /** Its group keeps it for a while, and its runs come again when their leases are over. Its parent starts another. */
  kill(machine: number): void {
    const { processes, parent } = this.machines[machine] as Machine
    const victim = processes[0] as Process
    const runs = victim.slots.filter((freeAtMs) => freeAtMs > this.nowMs).length
    this.#lost.push({ atMs: this.nowMs + leaseMs, runs, workMs: this.plan.workMs(this.second) })
    this.#ghosts.push({ untilMs: this.nowMs + sessionMs, parent })
    Object.assign(victim, { joinsAtMs: this.nowMs + 1_000 + startMs, slots: victim.slots.map(() => 0) })
  }

  #arrive(): void {
    const { plan, second } = this
    const isPaused = plan.isPaused?.(second) === true
    const runs = plan.comes(second)
    for (const each of this.#lost.filter(({ atMs }) => atMs <= this.nowMs)) this.#enqueue(each.runs, each.workMs)
    this.#lost = this.#lost.filter(({ atMs }) => atMs > this.nowMs)
    this.#ghosts = this.#ghosts.filter(({ untilMs }) => untilMs > this.nowMs)
    if (isPaused) this.#atOwner += runs
    else {
      this.#enqueue(this.#atOwner + runs, plan.workMs(second))
      this.#atOwner = 0
    }
  }

  #enqueue(runs: number, workMs: number): void {
    for (let n = 0; n < runs; n++) this.#queue.push({ dueMs: this.nowMs, workMs })
    this.#came += runs
  }

  /** What can start before the next second does. */
  #start(): void {
    const { plan, second } = this
    if (plan.isStuck?.(second) === true || plan.isPaused?.(second) === true) return
    const untilMs = this.nowMs + 1_000
    const workers = this.machines.flatMap((machine) => machine.members(this.nowMs))
    if (plan.gatherMs !== undefined) return this.#gather(workers, plan.gatherMs)
    let at = 0
    for (; at < this.#queue.length; at++) {
      const run = this.#queue[at] as { dueMs: number; workMs: number }
      let best: { slots: number[]; index: number; atMs: number } | undefined
      for (const { slots } of workers)
        for (let index = 0; index < slots.length; index++) {
          const atMs = Math.max(slots[index] as number, run.dueMs, this.nowMs)
          if (best === undefined || atMs < best.atMs) best = { slots, index, atMs }
          if (best.atMs === Math.max(run.dueMs, this.nowMs)) break
        }
      if (best === undefined || best.atMs >= untilMs) break
      best.slots[best.index] = best.atMs + run.workMs
      this.waits.push({ dueSecond: (run.dueMs - this.#beganMs) / 1_000, waitMs: best.atMs - run.dueMs })
    }
    this.#queue.splice(0, at)
  }

  /** One open batch of all that has come. */
  #gather([worker]: Process[], gatherMs: number): void {
    const { nowMs } = this
    if (worker === undefined) return
    this.#sharing = this.#sharing.filter(({ untilMs }) => untilMs > nowMs)
    if (this.#queue.length > 0) this.#gathering ??= { sinceMs: nowMs, runs: 0 }
    if (this.#gathering === undefined) return
    this.#gathering.runs = this.#queue.length
    if (nowMs < this.#gathering.sinceMs + gatherMs) return
    const index = worker.slots.findIndex((freeAtMs) => freeAtMs <= nowMs)
    if (index === -1) return
    const [first] = this.#queue
    worker.slots[index] = nowMs + (first?.workMs ?? 0)
    this.#sharing.push({ runs: this.#queue.length - 1, untilMs: nowMs + (first?.workMs ?? 0) })
    for (const { dueMs } of this.#queue) this.waits.push({ dueSecond: (dueMs - this.#beganMs) / 1_000, waitMs: nowMs - dueMs })
    this.#queue.length = 0
    this.#gathering = undefined
  }

  /** What the workers have committed in this second, with what they tell of an open batch: written here by hand. */
  #commit(): void {
    const { gatherMs, isStuck } = this.plan
    // Its worker hangs.
    if (isStuck?.(this.second) === true) return
    const isOpen = this.#gathering !== undefined && this.nowMs < this.#gathering.sinceMs + (gatherMs ?? 0)
    const told = { reach: this.#came, waiting: isOpen ? 0 : this.#queue.length, sharing: this.#shared }
    const metadata = JSON.stringify({ ...told, until: this.nowMs + 15_000 })
    const tells = this.plan.isSilent !== true && (isOpen || this.#shared > 0)
    this.#committed = { partition: 0, offset: this.#came - this.#queue.length, ...(tells ? { metadata } : {}) }
  }

  get #shared(): number {
    return this.#sharing.filter(({ untilMs }) => untilMs > this.nowMs).reduce((sum, { runs }) => sum + runs, 0)
  }

  get #running(): number {
    const slots = this.machines.flatMap(({ processes }) => processes.flatMap(({ slots }) => slots))
    const lost = this.#lost.reduce((sum, { runs }) => sum + runs, 0)
    return slots.filter((freeAtMs) => freeAtMs > this.nowMs).length + this.#shared + lost
  }

  get #members() {
    const { nowMs } = this
    const note = { wanted: 1, min: 1, max: 1, reason: 'start', pool: null, at: 0, coolDownMs: 1 }
    const userDataOf = (parent: string) => ({ concurrency: this.plan.slots, processes: { ...note, parent } })
    const living = this.machines.flatMap((machine) => machine.members(nowMs).map(() => machine.parent))
    return [...living, ...this.#ghosts.map(({ parent }) => parent)].map((parent, index) => {
      return { memberId: String(index), instance: parent, userData: userDataOf(parent), assigned: [] }
    })
  }

  #scaler(machine: Machine): ProcessScaler {
    const { plan } = this
    const clock = new ManualClock(this.#time)
    clock.skewMs = machine.plan.skewMs ?? 0
    const answer = async <T>(value: () => T): Promise<T> => {
      if (plan.isDark?.(Math.floor(this.second)) === true) throw new Error('No broker answers.')
      return value()
    }
    const all = Array.from({ length: partitions }, (_, partition) => partition)
    const loads = new PoolLoads({
      admin: {
        offsetsOf: (topics) =>
          answer(() => {
            const rangesOf = (topic: string) =>
              all.map((partition) => ({ partition, earliest: 0, next: topic === usual && partition === 0 ? this.#came : 0 }))
            return new Map(topics.map((topic) => [topic, rangesOf(topic)]))
          }),
        committedOf: () => answer(() => new Map([[usual, [this.#committed]]])),
        groupMembers: () => answer(() => this.#members),
      },
      names,
      clock,
      pools: async () => ['mail'],
      slots: plan.slots,
      runs: () => answer(() => [[{ pool: 'mail', running: this.#running } as never]]),
      pauseOf: () => (plan.isPaused?.(Math.floor(this.second)) === true ? { isDrained: false } : undefined),
      forecast: ({ from, to }) =>
        answer(() => {
          const seconds = (atMs: number): number => Math.ceil((atMs - this.#beganMs) / 1_000)
          let due = 0
          for (let second = seconds(from); plan.isForeseen && second < seconds(to); second++) due += plan.comes(second)
          return new Map([['mail', due]])
        }),
      logger: { warn: () => {} } as never,
    })
    return new ProcessScaler({
      ...{ loads, processes: machine, parent: machine.parent, pools: new Set(['mail']), clock },
      ...{ min: machine.plan.min, max: machine.plan.max, coolDownMs: plan.coolDownMs ?? 60_000 },
      metrics: {
        executorsWanted: { set: () => {} },
        executorChanges: { inc: () => {} },
      } as never,
      logger: { info: () => {}, debug: () => {} } as never,
    })
  }
}
