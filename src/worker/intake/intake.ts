/**
 * Takes the schedules of other Kafka schedulers as they are, and writes them as definitions to jobs. Each transaction also
 * commits the read position, so no record becomes a definition twice. Members of the group `<prefix>intake` share the partitions.
 */
import { RejoinTimer } from '../../ground/concurrency/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { GroupReader, TopicPartition } from '../../ground/ports/index.ts'
import { type Dialect, dialects, type IntakeOptions } from './options.ts'
import { SourceLane } from './source-lane.ts'

const rejoinMs = 5_000

export class ForeignIntake {
  readonly #options: IntakeOptions
  readonly #dialects = new Map<string, Dialect>()
  readonly #lanes = new Map<string, SourceLane>()
  #reader: GroupReader | undefined
  #generation = -1
  #stopped = false
  #stopping: Promise<void> | undefined
  readonly #rejoinTimer: RejoinTimer

  constructor(options: IntakeOptions) {
    this.#options = options
    this.#rejoinTimer = new RejoinTimer(options.clock, rejoinMs)
    for (const dialect of dialects) for (const topic of options.topics[dialect]) this.#dialects.set(topic, dialect)
  }

  /** Joins the group. Rejects with DuelogError `unsafe-topic` for a topic that does not exist, or `broker-unavailable`. */
  async start(): Promise<void> {
    const { log, names, instance } = this.#options
    this.#reader = log.reader({
      groupId: names.group('intake'),
      topics: [...this.#dialects.keys()],
      instance,
      onAssigned: (assigned, generation) => this.#assigned(assigned, generation),
      onBatch: (batch) => this.#lanes.get(placeOf(batch))?.receive(batch),
      onPassed: ({ offset, ...place }) => void this.#lanes.get(placeOf(place))?.passed(offset),
      onCrash: (error) => this.#crashed(error),
    })
    await this.#reader.start()
  }

  /** Why schedules are not taken, if retries alone do not help. */
  get problem(): string | undefined {
    for (const { problem } of this.#lanes.values()) if (problem !== undefined) return problem
    return undefined
  }

  /** Finishes the work in progress and leaves. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.#stopped = true
    this.#rejoinTimer.cancel()
    await this.#endAll()
    await this.#reader?.stop()
  }

  #assigned(assigned: TopicPartition[], generation: number) {
    // In a generation that we missed, the partitions may have had other readers.
    const missed = generation !== this.#generation + 1
    this.#generation = generation
    const places = new Set(assigned.map(placeOf))
    for (const [place, lane] of this.#lanes) {
      if (places.has(place) && !missed) continue
      this.#lanes.delete(place)
      void lane.end()
    }
    const positions = []
    const paused: TopicPartition[] = []
    for (const { topic, partition } of assigned) {
      const lane = this.#lanes.get(placeOf({ topic, partition }))
      if (lane?.next !== undefined) positions.push({ topic, partition, offset: lane.next })
      else paused.push({ topic, partition })
      if (lane === undefined) this.#open(topic, partition)
    }
    return { positions, paused }
  }

  #open(topic: string, partition: number): void {
    const dialect = this.#dialects.get(topic)
    if (dialect === undefined || this.#reader === undefined) throw new DuelogError('internal', `${topic} is no foreign topic`)
    const lane = new SourceLane(this.#options, this.#reader, dialect, topic, partition)
    this.#lanes.set(placeOf(lane), lane)
    void lane.claim()
  }

  async #endAll(): Promise<void> {
    const lanes = [...this.#lanes.values()]
    this.#lanes.clear()
    await Promise.all(lanes.map((lane) => lane.end()))
  }

  #crashed(error: unknown): void {
    void this.#endAll()
    this.#generation = -1
    if (this.#stopped) return
    const message = 'The intake of foreign schedules lost its group session and joins again.'
    this.#options.logger.error({ event: 'intake-session-lost', err: error, delayMs: rejoinMs }, message)
    this.#rejoinTimer.start(
      () => this.start(),
      (failure) => this.#crashed(failure),
    )
  }
}

const placeOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`
