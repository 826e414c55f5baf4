/** The real workers, forwarders and intakes. Each has its own machines, which fail as those of schedulers do. */
import type { Execution } from '../../../schemas/generated.ts'
import type { GuardedClock } from '../../../src/ground/clock/guarded-clock.ts'
import type { GroupMember, Log } from '../../../src/ground/ports/log.ts'
import { processClock, watchClock } from '../../../src/log/cluster/process-clock.ts'
import { PauseBook } from '../../../src/log/pauses/pause-book.ts'
import { Machine } from '../../../src/testing/simulation/io.ts'
import type { Member } from '../../../src/testing/simulation/member.ts'
import { type KeepingGroup, simulatedLog } from '../../../src/testing/simulation/simulated-log.ts'
import { Executor } from '../../../src/worker/executor/executor.ts'
import { ForeignIntake } from '../../../src/worker/intake/intake.ts'
import { Retrier } from '../../../src/worker/retrier/retrier.ts'
import { codecs, leadMs, names } from '../world.ts'
import { hoursWrong } from './faults.ts'
import { foreignTopics } from './foreigners.ts'
import { Scripted } from './handlers.ts'
import { Heard } from './pauses.ts'
import { asking, type Cluster, logger, metrics } from './process.ts'

export type Part = 'forwarder' | 'intake' | 'executor'

/** Every eighth seed has only test doubles. Its history is the same as without these processes. */
export function partsOf(seed: number): ReadonlySet<Part> {
  const chosen: readonly (readonly Part[])[] = [[], ['forwarder'], ['intake'], ['forwarder', 'intake']]
  return new Set([...(chosen[seed % 4] ?? []), ...(seed % 8 >= 4 ? (['executor'] as const) : [])])
}

/** The number of records that the real processes have written, in all histories. */
export const deeds: Record<Part, number> = { forwarder: 0, intake: 0, executor: 0 }

interface Doing {
  start(): Promise<void>
  stop(): Promise<void>
}

interface Doer {
  machine: Machine
  doing: Doing
  /** Its readers, also those whose session has ended. */
  members: Member[]
  started: boolean
  /** The script of the handlers, in a worker. */
  scripted: Scripted
  /** Whether it lacks handlers that jobs name. */
  isPartial: boolean
}

/** The handlers that jobs of a history name, and what single workers may have of them. */
const handlerNames = ['noop', 'http']
const someNames = [handlerNames, ['noop'], ['http'], []]

interface Slot {
  part: Part
  name: string
  boots: number
  doer: Doer | undefined
}

/**
 * The error that their clock guards allow, in ms, and how far ahead a clock may then be. A broker that answers slowly gives a
 * less exact time.
 */
const guardMs = 1_000
export const trustedAheadMs = 3_000

/** The time until a process that could not start is started again, as a supervisor does. */
const againMs = 1_000

export class Doers {
  readonly parts: ReadonlySet<Part>
  /** Violations: what none of these processes may do. */
  readonly problems: string[] = []
  /** The most that any of their clocks was ahead of true time. */
  aheadMs = 0
  #peaceful = false
  readonly #cluster: Cluster
  readonly #groups = new Map<string, KeepingGroup>()
  readonly #slots: Slot[] = []

  constructor(cluster: Cluster, parts: ReadonlySet<Part>, isMixed: boolean) {
    this.#cluster = cluster
    this.parts = parts
    if (isMixed && parts.has('executor')) cluster.realWorkers = () => this.#workersAsShown()
    for (const part of parts) {
      const machines = cluster.chance.pick(isMixed && part === 'executor' ? [2, 3] : [1, 2, 2])
      for (let at = 0; at < machines; at++) this.#slots.push({ part, name: `${part}${at}`, boots: 0, doer: undefined })
    }
    this.boot()
  }

  /** The readers of the processes that run. */
  get members(): Member[] {
    return this.#slots.flatMap(({ doer }) => doer?.members ?? [])
  }

  /** Starts every process that does not run. */
  boot(): void {
    for (const slot of this.#slots) if (slot.doer === undefined) this.#boot(slot)
  }

  /** Ends all failures. */
  rest(): void {
    this.#peaceful = true
    for (const slot of this.#slots) {
      const { doer } = slot
      if (doer === undefined) continue
      // From now on some worker has each handler.
      if (doer.isPartial) {
        this.#kill(slot, doer)
        continue
      }
      Object.assign(doer.machine.clock, { stopped: false, skewMs: 0 })
      doer.scripted.rest()
    }
    this.boot()
  }

  /** Makes one of them fail. Returns a description; undefined when this failure is not possible now. */
  suffer(what: string): string | undefined {
    const { chance } = this.#cluster
    const slot = chance.pick(this.#slots)
    const { doer } = slot
    if (doer === undefined) {
      if (what !== 'boot') return undefined
      this.#boot(slot)
    } else if (what === 'kill') this.#kill(slot, doer)
    else if (what === 'stop' && doer.started && !doer.machine.frozen) this.#stop(slot, doer)
    else if (what === 'freeze') {
      doer.machine.clock.stopped = true
      if (chance.happens(0.7)) this.#rebalance()
    } else if (what === 'thaw') doer.machine.clock.stopped = false
    else if (what === 'rebalance') this.#rebalance()
    else if (what === 'clock' || what === 'clockSteps') {
      const isFar = this.#cluster.clockStepMsMax !== undefined && chance.happens(0.7)
      this.#setClock(doer, isFar ? hoursWrong(chance, doer.machine.clock) : chance.int(-5_000, 5_000))
    } else if (what === 'topic' && doer.members.length > 0) chance.pick(doer.members).crash()
    else return undefined
    return `— ${what === 'topic' ? 'crash' : what} of ${slot.name}`
  }

  /** Attempts that were begun by workers that still run. */
  get begun(): { worker: string; execution: Execution; atMs: number }[] {
    return this.#slots.flatMap(({ name, doer }) =>
      (doer?.scripted.attempts ?? []).map((attempt) => ({ worker: name, ...attempt })),
    )
  }

  /** As brokers show them: while the group assigns its partitions, nobody's announcement. */
  #workersAsShown(): GroupMember[] {
    const members = [...(this.#groups.get(names.group('exec.default'))?.members ?? [])]
    const isJoining = members.some(({ current }) => !current)
    return members.map(({ id, instance, userData }) => ({
      ...{ memberId: id, instance, assigned: [], isJoining, userData: isJoining ? null : userData },
    }))
  }

  #setClock({ machine: { clock } }: Doer, byMs: number): void {
    clock.skewMs += byMs
    const allowedMs = this.#cluster.clockStepMsMax === undefined ? Number.POSITIVE_INFINITY : trustedAheadMs
    this.aheadMs = Math.max(this.aheadMs, Math.min(clock.skewMs, allowedMs))
  }

  #rebalance(): void {
    const groups = [...this.#groups.values()]
    if (groups.length > 0) this.#cluster.chance.pick(groups).rebalance()
  }

  #boot(slot: Slot): void {
    const name = `${slot.name}.${slot.boots++}`
    const machine = new Machine(name, this.#cluster.time)
    const members: Member[] = []
    const clock = this.#clockOf(machine)
    const heard = this.#cluster.pauses && slot.part === 'executor' ? new Heard(this.#cluster.pauses) : undefined
    const written = simulatedLog(
      this.#cluster,
      machine,
      this.#groups,
      (member) => members.push(member),
      (records) => {
        deeds[slot.part] += records
      },
      clock.appended,
    )
    const log = heard?.in(written) ?? written
    // As in a process of these roles (src/log/cluster/process-clock.ts).
    if (this.#cluster.clockStepMsMax !== undefined)
      watchClock(clock, { log, topics: [names.events], partitions: this.#cluster.log.partitions, instance: name })
    const scripted = new Scripted(this.#cluster, machine, this.problems, heard)
    if (this.#peaceful) scripted.rest()
    const isMixed = slot.part === 'executor' && this.#cluster.realWorkers !== undefined && !this.#peaceful
    const handled = isMixed ? this.#cluster.chance.pick(someNames) : handlerNames
    const doing = this.#make(slot.part, name, clock, log, scripted, handled)
    const doer: Doer = { machine, members, doing, started: false, scripted, isPartial: handled.length < handlerNames.length }
    slot.doer = doer
    doer.doing.start().then(
      () => {
        doer.started = true
      },
      () => machine.clock.at(machine.clock.nowMs() + againMs, () => this.#kill(slot, doer)),
    )
  }

  #clockOf({ name, clock }: Machine): GuardedClock {
    const { clockStepMsMax, clockLookMs: lookMs = 10_000 } = this.#cluster
    const stepMsMax = clockStepMsMax === undefined ? 0 : guardMs
    return processClock({ clock, stepMsMax, needsProof: false, lookMs, metrics, logger: logger.child({ machine: name }) })
  }

  #make(part: Part, instance: string, clock: GuardedClock, log: Log, scripted: Scripted, handled: readonly string[]): Doing {
    const shared = { log, names, instance, clock, metrics, logger: logger.child({ machine: instance }) }
    const cluster = this.#cluster
    if (part === 'forwarder') {
      const { execution, event } = codecs
      return new Retrier({ ...shared, codecs: { execution: asking(cluster, execution), event: event as never }, leadMs })
    }
    if (part === 'executor') {
      const { execution, event, control, pause } = codecs
      const worker = `worker@${instance}:1:x`
      const book = cluster.pauses && new PauseBook({ ...shared, instance: worker, codec: asking(cluster, pause) })
      const executor = new Executor({
        ...shared,
        instance: worker,
        pauses: book,
        codecs: {
          execution: scripted.reading(asking(cluster, execution)),
          control: asking(cluster, control as never),
          event: event as never,
        },
        pool: 'default',
        concurrency: cluster.chance.pick([1, 3, 20]),
        handlers: Object.fromEntries(handled.map((handler) => [handler, scripted.handle])),
        drainMs: cluster.chance.pick([0, 1_000, 5_000]),
        leadMs,
      })
      return book === undefined ? executor : withPauses(executor, book)
    }
    const targets = {
      problem: () => undefined,
      seek: () => undefined,
      poolProblem: () => undefined,
      seekPool: () => undefined,
      failed: async () => {},
    }
    return new ForeignIntake({
      ...shared,
      definition: codecs.definition as never,
      prefix: 'model.',
      topics: foreignTopics,
      targets,
    })
  }

  #kill(slot: Slot, { machine }: Doer): void {
    if (slot.doer?.machine !== machine) return
    machine.clock.stopped = true
    machine.alive = false
    machine.diedAt = this.#cluster.time.nowMs
    this.#cluster.io.drop(machine)
    slot.doer = undefined
  }

  /** Stops as after SIGTERM. */
  #stop(slot: Slot, doer: Doer): void {
    doer.started = false
    void doer.doing.stop().then(() => {
      if (slot.doer !== doer) return
      doer.machine.alive = false
      slot.doer = undefined
    })
  }
}

/** As a worker does (src/clients/library): it knows the pauses before it takes a run. */
const withPauses = (executor: Executor, book: PauseBook): Doing => ({
  async start() {
    await book.start()
    await executor.start()
  },
  async stop() {
    await executor.stop()
    await book.stop()
  },
})
