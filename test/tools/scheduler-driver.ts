/**
 * The real scheduler over a log in memory, with a clock that a test moves by hand, for histories that a test writes step by step.
 * Nothing is random, no answer is lost, and records arrive at once. The seeded simulation of test/model/cluster plays random
 * histories on the same parts.
 */
import type { Execution, ExecutionEventInput, JobCommandInput, JobDefinitionInput, JobState } from '../../schemas/generated.ts'
import type { Chance } from '../../src/testing/simulation/chance.ts'
import { Group, type Sharing } from '../../src/testing/simulation/group.ts'
import type { Io } from '../../src/testing/simulation/io.ts'
import { partitionOf } from '../../streams/topics/topics.ts'
import { executionIn } from '../model/cluster/actors.ts'
import { Fullness } from '../model/cluster/fullness.ts'
import { type Cluster, type Disk, noFaults, Process, type Zones } from '../model/cluster/process.ts'
import { jobsOf } from '../model/cluster/settled.ts'
import { codecs, names } from '../model/world.ts'
import { rest, VirtualTime } from './manual-clock.ts'
import { MemoryLog } from './memory-log.ts'

/** The start time of its clock, epoch ms. */
export const beginMs = 1_800_000_000_000

/** A committed Execution and its time, in ms since `beginMs`. */
export type Dispatched = Execution & { at: number }

type AttemptName = Pick<Execution, 'jobId' | 'runNo' | 'attempt' | 'specOffset'>

export class SchedulerDriver {
  readonly time = new VirtualTime()
  readonly log: MemoryLog
  readonly cluster: Cluster
  readonly processes: Process[] = []
  /** While it is set, commits wait for it. */
  commitGate: Promise<void> | undefined
  /** While it is set, answers to commits wait for it. Readers see the committed records meanwhile. */
  answerGate: Promise<void> | undefined
  /** While it is set, writes to the store wait for it. */
  applyGate: Promise<void> | undefined

  readonly #gates = new Map<string, Promise<void>>()

  /**
   * `times`: how far clocks may differ before owners stop, the error of the broker clocks, when bursts may be dispatched, and
   * standbys. Default: clocks are not compared.
   */
  constructor(
    partitions = 1,
    sharing: Sharing = 'owners',
    times: Pick<Cluster, 'clockStepMsMax' | 'brokerSkewsMs' | 'leadMsMax' | 'standbys' | 'readPaceMs' | 'recordsRuns'> = {},
  ) {
    this.log = new MemoryLog(partitions, () => this.time.nowMs)
    const io = {
      submit: (machine: Process['machine'], name: string, effect: () => unknown): Promise<unknown> =>
        new Promise((resolve, reject) => {
          const go = async (): Promise<void> => {
            if (name === 'commits' && this.commitGate !== undefined) await this.commitGate
            if (name === 'applies' && this.applyGate !== undefined) await this.applyGate
            await this.#gates.get(`${machine.name} ${name}`)
            if (!machine.alive) return
            try {
              const answer = effect()
              if (name === 'commits' && this.answerGate !== undefined) await this.answerGate
              resolve(answer)
            } catch (error) {
              reject(error)
            }
          }
          setImmediate(() => void go())
        }),
      drop: () => undefined,
      ready: 0,
      step: () => '',
    } as unknown as Io
    const chance = {
      happens: (share: number) => share >= 0.5,
      pick: <T>(values: readonly T[]) => values.at(-1),
      int: (least: number) => least,
    } as unknown as Chance
    const group = new Group(this.log, io, chance, sharing)
    this.cluster = {
      time: this.time,
      log: this.log,
      io,
      group,
      groups: new Set([group]),
      chance,
      lossiness: 0,
      clusterId: 'here',
      ordersThere: true,
      ...times,
      ...noFaults,
      fullness: new Fullness(),
      brokenDisks: new Set(),
      openTransactions: [],
    }
  }

  /** Time since the beginning, in ms. */
  get nowMs(): number {
    return this.time.nowMs - beginMs
  }

  boot(name: string, disk: Disk = new Map(), zones?: Zones): Process {
    const process = new Process(this.cluster, name, disk, zones)
    this.processes.push(process)
    process.start()
    return process
  }

  /** Holds the calls of the process with this name, until the returned function is called. */
  hold({ machine }: Process, name: string): () => void {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#gates.set(`${machine.name} ${name}`, promise)
    return () => {
      this.#gates.delete(`${machine.name} ${name}`)
      resolve()
    }
  }

  /** Ends the process as SIGKILL does; the group notices at once. */
  kill(process: Process): void {
    process.machine.clock.stopped = true
    process.machine.alive = false
    process.machine.diedAt = this.time.nowMs
    if (process.member !== undefined) this.cluster.group.leave(process.member)
  }

  /** Does what kafkajs does when the brokers refuse the position of a reader: it starts from the beginning without notice. */
  readFromBeginning({ member }: Process, topic: string): void {
    for (let partition = 0; partition < this.log.partitions; partition++) member?.refusePosition({ topic, partition })
  }

  /** Waits until nothing more happens at this time. */
  async settle(rounds = 400): Promise<void> {
    for (let round = 0, quiet = 0; round < rounds && quiet < 3; round++) {
      await rest()
      let moved = false
      for (const { member, machine } of this.processes) {
        if (member === undefined || !machine.alive) continue
        for (const move of member.moves) {
          member.move(move)
          moved = true
        }
      }
      while (this.time.runDue()) {
        moved = true
        await rest()
      }
      quiet = moved ? 0 : quiet + 1
    }
  }

  /** Lets `ms` pass, from one due event to the next, at most `stepMs` at once. */
  async advance(ms: number, stepMs = ms): Promise<void> {
    const until = this.time.nowMs + ms
    while (this.time.nowMs < until) {
      const next = Math.min(this.time.nextMs, until, this.time.nowMs + stepMs)
      this.time.nowMs = Math.min(Math.max(next, this.time.nowMs + 1), until)
      await this.settle(60)
    }
    await this.settle()
  }

  define(id: string, definition: JobDefinitionInput): number {
    return this.append(names.jobs, id, codecs.definition.encode(definition))
  }

  remove(id: string): number {
    return this.append(names.jobs, id, null)
  }

  command(id: string, command: Omit<JobCommandInput, 'at'> & { at?: number }): number {
    return this.append(names.commands, id, codecs.command.encode({ at: this.time.nowMs, ...command } as JobCommandInput))
  }

  report(of: AttemptName, type: ExecutionEventInput['type'], more: Partial<ExecutionEventInput> = {}): number {
    const { jobId, runNo, attempt, specOffset } = of
    const event = { jobId, runNo, attempt, specOffset, worker: 'w@h:1:a', at: this.time.nowMs, type, ...more }
    return this.append(names.events, jobId, codecs.event.encode(event))
  }

  /** Appends a record and returns its offset. */
  append(topic: string, key: string, value: Buffer | null): number {
    const partition = partitionOf(key, this.log.partitions)
    return [...this.log.append([{ topic, partition, key, value }]).values()][0] ?? -1
  }

  /** All Executions of the pool `default`, in the order of each topic. */
  executions(): Dispatched[] {
    return this.log.allOf('model.executions.default').flatMap(({ log }) =>
      log.archive.flatMap(({ record, transaction, at }) => {
        const execution = record === undefined || transaction?.state === 'aborted' ? undefined : executionIn(record)
        return execution === undefined ? [] : [{ at: at - beginMs, ...execution }]
      }),
    )
  }

  /** The state of a job in the store of a process. */
  state(process: Process, id: string): JobState | undefined {
    const store = process.disk.get(partitionOf(id, this.log.partitions))
    return store === undefined ? undefined : jobsOf(store).get(id)?.state
  }

  phases(process: Process): string {
    return process.scheduler.queries
      .partitions()
      .map(({ phase }) => phase)
      .join()
  }
}
