/**
 * Takes execution records from the log: up to the prefetch limit, and from ahead topics only shortly before they are due. A lane
 * whose head is due much later is paused, sought back to that record, and resumed shortly before the record is due. So bursts
 * wait in Kafka and not in memory.
 */
import type { Execution } from '../../../../schemas/index.ts'
import { priorities, type TopicNames } from '../../../../streams/topics/index.ts'
import { atInstant, type Clock } from '../../../ground/clock/index.ts'
import { RejoinTimer } from '../../../ground/concurrency/index.ts'
import { DuelogError, GroupNotKept, messageOf } from '../../../ground/errors/index.ts'
import type { Logger } from '../../../ground/logging/index.ts'
import type { Metrics } from '../../../ground/metrics/index.ts'
import type { Batch, Codec, GroupReader, Log, Position, RecordIn, TopicPartition } from '../../../ground/ports/index.ts'
import { decodeExecution } from '../../../ground/records/index.ts'
import { AheadWindow } from './ahead-window.ts'
import { type Entry, isMisdated, Lane, type LaneHost } from './lane.ts'
import { PrefetchLimit } from './prefetch-limit.ts'

/** Releases after which lanes look again whether others have left room. */
const releasesPerLook = 256
/** Delay before records are read again after the registry was unreachable. */
const registryRetryMs = 1_000
const rejoinFirstMs = 1_000
const rejoinMaxMs = 30_000

export interface ExecutionConsumerOptions {
  log: Log
  codec: Codec<Execution, never>
  names: TopicNames
  pool: string
  instance: string
  userData: () => unknown
  leadMs: number
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** An execution was taken. It is held until it starts. */
  onTaken(entry: Entry): void
  /** The whole batch was taken. */
  onBatchTaken(): void
  /** There may be something to commit of this lane. */
  onAdvanced(lane: Lane): void
  /** Completed entries should be committed now. */
  onRebalance(): void
  /** Nothing more of these lanes may start here. Other workers get them once the promise has settled. It must not reject. */
  onRevoked(lanes: readonly Lane[]): Promise<void>
  /** The brokers cannot keep the group. It is joined again; `userData` is read again then. */
  onNotKept(): void
}

export class ExecutionConsumer {
  readonly #options: ExecutionConsumerOptions
  readonly #lanes = new Map<string, Lane>()
  readonly #host: LaneHost
  readonly #topics: { topic: string; level: number; ahead: boolean }[]
  readonly #window: AheadWindow
  #releases = 0
  #reader: GroupReader | undefined
  readonly #share = new PrefetchLimit()
  #generation = -1
  readonly #rejoinTimer: RejoinTimer
  #stopped = false
  /** Not a member, because the clock is not trusted. */
  #away = false

  constructor(options: ExecutionConsumerOptions) {
    this.#options = options
    this.#host = {
      onReleased: (lane) => this.#released(lane),
      onHeld: (lane, entries, bytes) => this.#share.changed(lane, entries, bytes),
      onAdvanced: options.onAdvanced,
    }
    this.#rejoinTimer = new RejoinTimer(options.clock, rejoinFirstMs, rejoinMaxMs)
    this.#window = new AheadWindow(options.leadMs)
    this.#topics = priorities.flatMap((priority, level) =>
      [false, true].map((ahead) => ({ topic: options.names.executions(options.pool, priority, ahead), level, ahead })),
    )
  }

  get lanes(): Iterable<Lane> {
    return this.#lanes.values()
  }

  async start(): Promise<void> {
    const { log, names, pool, instance, userData } = this.#options
    this.#reader = log.reader({
      groupId: names.group(`exec.${pool}`),
      topics: this.#topics.map(({ topic }) => topic),
      instance,
      userData,
      assignment: 'open',
      onAssigned: (assigned, generation) => this.#assigned(assigned, generation),
      onRebalance: this.#options.onRebalance,
      onRevoked: (revoked) => this.#revoked(revoked),
      onBatch: (batch) => this.#batch(batch),
      onPassed: (position) => this.#passed(position),
      onCrash: (error) => this.#crashed(error),
    })
    await this.#reader.start()
  }

  /** Takes nothing more. The membership stays, so that offsets can be committed. */
  stopTaking(): void {
    this.#stopped = true
    this.#rejoinTimer.cancel()
    for (const lane of this.#lanes.values()) lane.waitFor(undefined)
    this.#close()
  }

  /** Takes nothing more until it comes back. */
  goAway(): void {
    this.#away = true
    this.#rejoinTimer.cancel()
    this.#close()
  }

  #close(): void {
    for (const lane of this.#lanes.values()) lane.close()
  }

  /** Rejoins the group as a new member. */
  async comeBack(): Promise<void> {
    this.#away = false
    this.#rejoinTimer.reset()
    if (!this.#stopped) await this.start().catch((error: unknown) => this.#crashed(error))
  }

  /** Leaves the group: others get the partitions. */
  async leave(): Promise<void> {
    await this.#reader?.stop()
    if (this.#away) this.#loseAll()
  }

  async commit(positions: Position[]): Promise<void> {
    await this.#reader?.commit(positions)
  }

  /** Room that one lane leaves is also for the others. */
  #released(lane: Lane): void {
    if (++this.#releases % releasesPerLook === 0) this.committed()
    else this.#reopen(lane)
  }

  /** After a commit: reopens lanes that were full, such as those of entries that could not be committed. */
  committed(): void {
    for (const lane of this.#lanes.values()) this.#reopen(lane)
  }

  #reopen(lane: Lane): void {
    if (!lane.full || !this.#share.hasRoom(lane)) return
    lane.full = false
    this.#resume(lane)
  }

  #resume(lane: Lane): void {
    if (lane.full || lane.isWaiting || !lane.owned || this.#stopped) return
    this.#reader?.resume([{ topic: lane.topic, partition: lane.partition }])
  }

  /** The lanes are kept until what has started here is committed. */
  async #revoked(revoked: readonly TopicPartition[]): Promise<void> {
    const lanes = revoked.map(({ topic, partition }) => this.#lane(topic, partition)).filter(({ owned }) => owned)
    for (const lane of lanes) lane.revoke()
    const epochs = lanes.map(({ epoch }) => epoch)
    await this.#options.onRevoked(lanes)
    for (const [place, lane] of lanes.entries()) if (lane.epoch === epochs[place]) lane.lose()
  }

  #assigned(assigned: TopicPartition[], generation: number): { positions: Position[]; paused: TopicPartition[] } {
    // In a generation that we missed, our partitions may have belonged to others, whose commits are newer than our positions.
    if (generation !== this.#generation + 1) this.#loseAll()
    this.#generation = generation
    this.#rejoinTimer.reset()
    const kept = new Set<Lane>()
    for (const { topic, partition } of assigned) kept.add(this.#lane(topic, partition))
    for (const lane of this.#lanes.values()) if (lane.owned && !kept.has(lane)) lane.lose()
    const positions: Position[] = []
    const paused: TopicPartition[] = []
    for (const lane of kept) {
      if (lane.isRevoking) lane.lose()
      lane.gain(this.#options.clock.nowMs())
      const { topic, partition, next } = lane
      if (next !== undefined) positions.push({ topic, partition, offset: next })
      if (lane.full || lane.isWaiting) paused.push({ topic, partition })
    }
    return { positions, paused }
  }

  #loseAll(): void {
    this.#generation = -1
    for (const lane of this.#lanes.values()) if (lane.owned || lane.isRevoking) lane.lose()
  }

  /** The reader cannot recover: restart as a new member. */
  #crashed(error: unknown): void {
    this.#loseAll()
    if (this.#stopped || this.#away) return
    const { logger, pool } = this.#options
    if (error instanceof GroupNotKept) this.#options.onNotKept()
    const { delayMs } = this.#rejoinTimer
    logger.error({ event: 'worker-session-lost', err: error, pool, delayMs }, 'The worker lost its group and joins again.')
    this.#rejoinTimer.start(() => this.start(), this.#crashed.bind(this))
  }

  #lane(topic: string, partition: number): Lane {
    const key = `${topic}/${partition}`
    let lane = this.#lanes.get(key)
    if (lane === undefined) {
      const { level = 0, ahead = false } = this.#topics.find((candidate) => candidate.topic === topic) ?? {}
      lane = new Lane({ topic, partition, level, ahead }, this.#host)
      this.#lanes.set(key, lane)
    }
    return lane
  }

  /** Undefined: nothing of it is taken now. */
  #openLane({ topic, partition }: TopicPartition): Lane | undefined {
    const lane = this.#lanes.get(`${topic}/${partition}`)
    return lane?.owned === true && !this.#stopped && !this.#away ? lane : undefined
  }

  #batch(batch: Batch): void | Promise<void> {
    const lane = this.#openLane(batch)
    if (lane === undefined) return
    if (batch.highWatermark < lane.reach) this.#startOver(lane, batch)
    this.#window.seen(lane, batch)
    return this.#take(lane, batch.records, 0)
  }

  /** The end of a transaction is an offset too. Without it, an idle pool would always show a lag of 1 and never scale to zero. */
  #passed(position: Position): void {
    const lane = this.#openLane(position)
    if (lane !== undefined && position.offset > lane.reach) lane.passed(position.offset)
  }

  /** kafkajs reads such a log from its beginning. Without this, its records would count as seen. */
  #startOver(lane: Lane, { highWatermark }: Batch): void {
    const { topic, partition, next } = lane
    this.#options.metrics.positionsReset.inc({ topic, reason: 'beyond-end' })
    this.#options.logger.error(
      { event: 'position-reset', topic, partition, offset: next, end: highWatermark },
      `${topic}/${partition} ends before what was read of it: it was truncated, or deleted and created again. It is read from its beginning.`,
    )
    lane.startOver()
  }

  /** Decodes synchronously if possible. While a schema is fetched from the registry, the reader waits. */
  #take(lane: Lane, records: RecordIn[], from: number): void | Promise<void> {
    const { epoch } = lane
    for (let at = from; at < records.length; at++) {
      const record = records[at] as RecordIn
      let execution: Execution | Promise<Execution> | undefined
      try {
        execution = decodeExecution(this.#options.codec, record.value)
      } catch (error) {
        if (!this.#refused(lane, record, error)) break
        continue
      }
      if (execution instanceof Promise) {
        const carryOn = (admitted: boolean) => (admitted ? this.#take(lane, records, at + 1) : this.#taken(lane))
        return execution.then(
          (decoded) => (lane.epoch === epoch ? carryOn(this.#admitted(lane, record, decoded)) : undefined),
          (error) => (lane.epoch === epoch ? carryOn(this.#refused(lane, record, error)) : undefined),
        )
      }
      if (!this.#admitted(lane, record, execution)) break
    }
    this.#taken(lane)
  }

  /** False if the record must stay in the log for now. */
  #admitted(lane: Lane, record: RecordIn, execution: Execution): boolean {
    const { dueAt } = execution
    const isLate = !lane.ahead || isMisdated({ dueAt, appendedAt: record.timestampMs })
    const untilMs = isLate ? undefined : this.#window.waitUntil(dueAt, this.#options.clock.nowMs())
    if (untilMs !== undefined) {
      this.#leave(lane, record.offset, untilMs)
      return false
    }
    const entry = lane.take(record, execution)
    if (entry !== undefined) this.#options.onTaken(entry)
    return true
  }

  /** A record that cannot be decoded is skipped. If the registry failed, it is read again. */
  #refused(lane: Lane, record: RecordIn, error: unknown): boolean {
    const { clock, logger, metrics } = this.#options
    const place = { topic: record.topic, partition: record.partition, offset: record.offset }
    if (error instanceof DuelogError && error.code === 'registry-unavailable') {
      logger.warn({ event: 'schema-not-given', ...place, err: error }, 'The registry did not give the schema of an Execution.')
      this.#leave(lane, record.offset, clock.nowMs() + registryRetryMs)
      return false
    }
    logger.error(
      { event: 'record-undecodable', ...place, problem: messageOf(error) },
      'An Execution cannot be decoded and is skipped.',
    )
    metrics.invalid.inc({ reason: 'undecodable-execution' })
    lane.take(record, undefined)
    return true
  }

  /** Leaves this offset and all later ones in the log until an instant. */
  #leave(lane: Lane, offset: number, untilMs: number): void {
    const { topic, partition } = lane
    this.#reader?.pause([{ topic, partition }])
    this.#reader?.seek({ topic, partition, offset })
    lane.waitFor(
      atInstant(this.#options.clock, untilMs, () => {
        lane.waitFor(undefined)
        this.#resume(lane)
      }),
    )
  }

  /** Closes the lane when it has its share, and starts the runs that were taken. */
  #taken(lane: Lane): void {
    if (!lane.full && this.#share.isUsedUp(lane)) {
      lane.full = true
      this.#reader?.pause([{ topic: lane.topic, partition: lane.partition }])
    }
    this.#options.onBatchTaken()
  }
}
