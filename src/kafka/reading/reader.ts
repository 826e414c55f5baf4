/**
 * A member of a consumer group, on top of a kafkajs consumer.
 *
 *   start ──► joining ──GROUP_JOIN──► reading ──rebalance, crash that kafkajs heals──► joining …
 *                 └──────── fatal crash or stop ────────┴──► stopped
 *
 * kafkajs fetches from each broker in rounds. The batches of one round are handed over concurrently, one for each partition. The
 * broker's next round is fetched when all of them have settled. So a waiting batch blocks the other partitions of the same
 * broker: onBatch should queue and pause, not wait. Heartbeats continue meanwhile.
 *
 * A member that is asked about what it loses (onRevoked) is cooperative, as in KIP-429:
 *
 *   assigned ──join without it──► revoking ──committed by the caller──► claimed no longer, by another join
 *        ▲                           │
 *        └──────── join with it ─────┘
 *
 * After each join exactly the positions and pauses of onAssigned apply. Earlier pauses are dropped, as kafkajs does whenever it
 * restarts its runner.
 */
import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from 'kafkajs'
import { DuelogError } from '../../errors/index.ts'
import {
  type Batch,
  GroupNotKept,
  type GroupReader,
  type GroupReaderOptions,
  type Position,
  type TopicPartition,
} from '../../ports/index.ts'
import type { PartitionCounts } from '../admin/index.ts'
import { type BrokerIsolation, closed, faultOn, type LogSettings, retry } from '../brokers/index.ts'
import { faultOf, isUnexplained } from '../errors/index.ts'
import { type AssignerKind, assignerOf, protocolOf, RevokedPartitions, userDataOf } from '../group/index.ts'
import { unveiled, withBoundedFetches, withLostCoordinators } from '../kafkajs/index.ts'
import { FetchOrder } from './fetch-order.ts'
import { Heartbeats } from './heartbeats.ts'
import { commitAgainMsMax, isBetweenJoins, JoinWait } from './join-wait.ts'
import { PollWait } from './poll-wait.ts'
import { recordsOf } from './records.ts'
import { reportUnread } from './unreadable-records.ts'

/** Limit of batches that are handed over concurrently; below it, the number of partitions read. */
const concurrencyMax = 256

export class KafkaGroupReader implements GroupReader {
  readonly #options: GroupReaderOptions
  readonly #settings: LogSettings
  readonly #counts: PartitionCounts
  readonly #kafka: Kafka
  readonly #consumer: Consumer
  readonly #heartbeats: Heartbeats
  readonly #pollWait: PollWait
  readonly #beatMs: number
  /** Partitions that this member reads now, by topic. Empty unless joined. */
  #assigned = new Map<string, number[]>()
  readonly #revoked: RevokedPartitions
  /** Counts joins. It is used as the generation, because kafkajs reports the group's generation only with the first heartbeat. */
  #joins = 0
  #memberId: string | undefined
  #joined = false
  #stopped = false
  #started: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  /** Batches whose onBatch has not settled. */
  #open = new Set<EachBatchPayload>()
  readonly #order = new FetchOrder()
  readonly #joinWait = new JoinWait()
  /** Commits that a broker has taken. */
  #commitsTaken = 0
  #beating: NodeJS.Timeout | undefined
  #cancelReachWatch: (() => void) | undefined
  #settleStart: { resolve(): void; reject(error: Error): void } | undefined

  /**
   * `cutOff`: while this process is isolated, the member wants no partitions of a group with our assignment, as long as others
   * stay (ADR 0067). Default: never isolated.
   */
  constructor(
    kafka: Kafka,
    counts: PartitionCounts,
    settings: LogSettings,
    options: GroupReaderOptions,
    cutOff?: Pick<BrokerIsolation, 'isCutOff' | 'onChange'>,
  ) {
    this.#options = options
    this.#settings = settings
    this.#counts = counts
    this.#kafka = kafka
    const isOwner = options.assignment === 'co-partitioned'
    this.#beatMs = isOwner ? settings.ownerHeartbeatIntervalMs : settings.heartbeatIntervalMs
    this.#heartbeats = new Heartbeats(this.#beatMs, settings.sessionTimeoutMs)
    this.#revoked = new RevokedPartitions(
      (partitions) => options.onRevoked?.(partitions),
      () => void this.rejoin().catch(() => {}),
    )
    this.#pollWait = new PollWait({
      shortMs: settings.fetchWaitMs,
      heartbeats: this.#heartbeats,
      hasPaused: () => this.#consumer.paused().length > 0,
      // An owner always has paused topics, and changes them at joins and errors only, when it is busy.
      longWhilePaused: isOwner,
    })
    const note = () => {
      this.#heartbeats.joining()
      const isYielding = (): boolean => cutOff?.isCutOff === true
      return userDataOf({ ...options, isYielding }, this.#assigned, this.#heartbeats.generation, this.#revoked.numbers)
    }
    const { assignment = 'round-robin' } = options
    // If the membership ends first, the next one sends it.
    if (assignment !== 'round-robin') this.#cancelReachWatch = cutOff?.onChange(() => void this.rejoin().catch(() => {}))
    const open: AssignerKind[] = [...(options.onRevoked ? (['cooperative'] as const) : []), 'co-partitioned', 'range']
    const kinds = assignment === 'open' ? open : [assignment]
    this.#consumer = kafka.consumer({
      groupId: options.groupId,
      partitionAssigners: kinds.map((kind) => assignerOf(kind, note)),
      sessionTimeout: settings.sessionTimeoutMs,
      rebalanceTimeout: settings.rebalanceTimeoutMs,
      heartbeatInterval: this.#heartbeats.interval,
      maxWaitTimeInMs: this.#pollWait.asNumber,
      minBytes: 1,
      maxBytesPerPartition: settings.fetchPartitionBytes,
      maxBytes: settings.fetchBytes,
      readUncommitted: options.readCommitted === false,
      allowAutoTopicCreation: false,
      retry: { ...retry, restartOnFailure: async () => !this.#stopped },
    })
    this.#listen()
  }

  /**
   * Resolves at the first join. Rejects with DuelogError, for example `broker-unavailable` or `unsafe-topic`; the reader has
   * stopped then.
   */
  start(): Promise<void> {
    this.#started ??= this.#start()
    return this.#started
  }

  pause(partitions: TopicPartition[]): void {
    const mine = this.#mine(partitions)
    if (mine.length === 0) return
    this.#pollWait.busy()
    this.#consumer.pause(mine.map(({ topic, partition }) => ({ topic, partitions: [partition] })))
  }

  resume(partitions: TopicPartition[]): void {
    const mine = this.#mine(partitions)
    if (mine.length === 0) return
    this.#pollWait.busy()
    this.#consumer.resume(mine.map(({ topic, partition }) => ({ topic, partitions: [partition] })))
  }

  seek(position: Position): void {
    if (!this.#isMine(position)) return
    this.#order.sought(position)
    this.#pollWait.busy()
    this.#consumer.seek({ ...position, offset: String(position.offset) })
  }

  /**
   * Positions of partitions that are neither ours nor being revoked are left out: their new reader commits them. While nothing is ours, for
   * example when kafkajs has lost its session and rejoins, it rejects. A caller that took them as committed would forget records
   * that are read again soon. What the group refuses only because it shares its partitions anew is sent again after the join, for at most
   * 5 s.
   */
  async commit(positions: Position[]): Promise<void> {
    const beganMs = performance.now()
    let ours = positions
    for (;;) {
      if (ours.length > 0 && !this.#joined) throw this.#notCommitted()
      // Once a partition has been neither ours nor claimed, others may have committed more of it.
      ours = ours.filter((position) => this.#isMine(position) || this.#revoked.has(position))
      if (ours.length === 0) return
      const memberId = this.#memberId
      try {
        return await this.#commit(ours)
      } catch (thrown) {
        const isWorthIt = isBetweenJoins(thrown) && performance.now() - beganMs < commitAgainMsMax
        if (isWorthIt) await this.#joinWait.next()
        // A member that has another id was not in the group meanwhile.
        if (!isWorthIt || (this.#joined && memberId !== this.#memberId))
          throw faultOf(thrown, `Committing offsets of group ${this.#options.groupId}`)
      }
    }
  }

  /** kafkajs sends nothing, and throws nothing, while its runner is stopping. */
  async #commit(positions: readonly Position[]): Promise<void> {
    const before = this.#commitsTaken
    await this.#consumer.commitOffsets(positions.map((position) => ({ ...position, offset: String(position.offset) })))
    if (this.#commitsTaken === before) throw this.#notCommitted()
  }

  #notCommitted(): DuelogError {
    return new DuelogError('not-ready', `The reader of ${this.#options.groupId} is not in its group; nothing was committed.`)
  }

  /** Rejects with DuelogError `not-ready` when the reader stops first. */
  nextHeartbeat(): Promise<void> {
    if (this.#stopped) return Promise.reject(new DuelogError('not-ready', `The reader of ${this.#options.groupId} has stopped.`))
    return this.#heartbeats.next()
  }

  rejoin(): Promise<void> {
    if (this.#stopped) return Promise.reject(new DuelogError('not-ready', `The reader of ${this.#options.groupId} has stopped.`))
    return this.#heartbeats.rejoin()
  }

  get isMember(): boolean {
    return !this.#stopped && this.#heartbeats.isMember
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #start(): Promise<void> {
    const { groupId, topics, startAt = 'earliest' } = this.#options
    try {
      const counts = await this.#counts.of(topics.map((topic) => ({ topic })))
      const partitions = topics.reduce((sum, topic) => sum + (counts.get(topic) ?? 0), 0)
      const joined = new Promise<void>((resolve, reject) => {
        this.#settleStart = { resolve, reject }
      })
      // A stop or crash may come before anything awaits it.
      joined.catch(() => {})
      await this.#consumer.connect()
      await this.#consumer.subscribe({ topics, fromBeginning: startAt === 'earliest' })
      if (this.#stopped) throw new DuelogError('not-ready', `The reader of ${groupId} was stopped while it started.`)
      const run = (): Promise<void> =>
        this.#consumer.run({
          autoCommit: false,
          eachBatchAutoResolve: false,
          partitionsConsumedConcurrently: Math.max(1, Math.min(partitions, concurrencyMax)),
          eachBatch: (payload) => this.#handOver(payload),
        })
      await withBoundedFetches(() => withLostCoordinators(run))
      await joined
    } catch (thrown) {
      this.#end()
      await this.#consumer.disconnect().catch(() => {})
      throw faultOn(this.#kafka, thrown, `Joining group ${groupId}`)
    }
  }

  async #stop(): Promise<void> {
    this.#end()
    this.#settleStart?.reject(new DuelogError('not-ready', `The reader of ${this.#options.groupId} was stopped.`))
    const started = this.#started?.catch(() => {}) ?? Promise.resolve()
    const left = started.then(() => this.#consumer.disconnect())
    await closed(left, `The reader of group ${this.#options.groupId}`, this.#settings)
  }

  /** onBatch must not throw: kafkajs would deliver the batch again forever. */
  #fail(error: Error): void {
    if (this.#stopped) return
    this.#options.onCrash(error)
    // Not awaited: leaving waits for the batch that called us.
    void this.stop()
  }

  #end(): void {
    this.#stopped = true
    this.#cancelReachWatch?.()
    this.#heartbeats.end(`The reader of ${this.#options.groupId} has stopped.`)
    this.#joinWait.wake()
  }

  #listen(): void {
    const { GROUP_JOIN, REBALANCING, STOP, CRASH, FETCH_START, END_BATCH_PROCESS, COMMIT_OFFSETS } = this.#consumer.events
    this.#heartbeats.listen(this.#consumer)
    this.#consumer.on(GROUP_JOIN, ({ payload }) => this.#onJoin(payload))
    this.#consumer.on(REBALANCING, () => this.#options.onRebalance?.())
    this.#consumer.on(COMMIT_OFFSETS, () => this.#commitsTaken++)
    this.#consumer.on(FETCH_START, ({ payload }) => this.#order.fetching(payload.nodeId))
    // For a batch without visible records, kafkajs emits only this event and continues after it.
    this.#consumer.on(END_BATCH_PROCESS, ({ payload }) => {
      if (payload.batchSize === 0) this.#passed(payload, Number(payload.lastOffset) + 1)
    })
    this.#consumer.on(STOP, () => this.#forget())
    this.#consumer.on(CRASH, ({ payload }) => {
      this.#forget()
      // kafkajs decided to restart before a stop came in between: undo that once its timer is set.
      if (payload.restart && this.#stopped) setImmediate(() => void this.#consumer.disconnect().catch(() => {}))
      if (this.#stopped) return
      if (payload.restart) return void this.#tellDenied(payload.error)
      this.#end()
      void this.#faultOf(payload.error).then((error) => {
        if (this.#settleStart === undefined) this.#options.onCrash(error)
        else this.#settleStart.reject(error)
      })
    })
  }

  /** kafkajs reports an ACL refusal as a group without a coordinator. */
  async #faultOf(thrown: unknown): Promise<DuelogError> {
    const { groupId } = this.#options
    const error = await unveiled(this.#kafka, thrown, 'group', groupId)
    if (isUnexplained(error)) return new GroupNotKept(groupId, error)
    return faultOn(this.#kafka, error, `Reading as a member of group ${groupId}`)
  }

  /**
   * kafkajs retries forever. A reader that is starting gets the error instead; a running one continues to retry, because the ACL
   * may come back.
   */
  async #tellDenied(thrown: unknown): Promise<void> {
    const error = await this.#faultOf(thrown)
    if (error.code !== 'kafka-denied' || this.#stopped) return
    this.#settings.logger.error({ event: 'group-denied', groupId: this.#options.groupId }, error.message)
    this.#settleStart?.reject(error)
  }

  /** Runs synchronously before the first fetch of the new assignment. */
  #onJoin({ memberAssignment, memberId, groupProtocol }: ConsumerGroupJoinEvent['payload']): void {
    // Thrown into kafkajs's join, this ends a runner that was starting when stop() came and would outlive it.
    if (this.#stopped) throw new DuelogError('not-ready', 'The reader was stopped.')
    const before = placesIn(this.#assigned)
    this.#assigned = new Map(Object.entries(memberAssignment).map(([topic, partitions]) => [topic, [...partitions]]))
    this.#joined = true
    // A new member id means that the group had removed us: others may have had our partitions meanwhile. The gap in the count
    // shows that.
    this.#joins += this.#memberId === undefined || this.#memberId === memberId ? 1 : 2
    this.#order.clear()
    this.#pollWait.busy()
    this.#consumer.resume(this.#options.topics.map((topic) => ({ topic })))
    const assigned = placesIn(this.#assigned)
    // By another rule all that it lost, also earlier, belongs to others already. A late commit would set them back.
    if (groupProtocol !== protocolOf('cooperative')) this.#revoked.clear()
    else if (this.#options.onRevoked !== undefined) {
      this.#heartbeats.hurry()
      this.#revoked.joined(before, assigned, this.#memberId === memberId)
    }
    this.#memberId = memberId
    const wanted = this.#options.onAssigned(assigned, this.#joins)
    for (const position of wanted?.positions ?? []) this.seek(position)
    this.pause(wanted?.paused ?? [])
    this.#heartbeats.joined()
    this.#joinWait.wake()
    this.#settleStart?.resolve()
    this.#settleStart = undefined
  }

  #forget(): void {
    this.#joined = false
    this.#assigned = new Map()
    this.#revoked.clear()
    this.#joinWait.wake()
  }

  async #handOver(payload: EachBatchPayload): Promise<void> {
    const { topic, partition, messages, highWatermark } = payload.batch
    const last = messages[messages.length - 1]
    if (last === undefined) return
    this.#pollWait.busy()
    // Fetched before a seek: it would be taken for the records after the new position.
    if (payload.isStale()) return
    const joins = this.#joins
    const next = Number(payload.batch.lastOffset()) + 1
    const batch: Batch = { topic, partition, records: recordsOf(topic, partition, messages), highWatermark: +highWatermark, next }
    if (batch.records.length < messages.length) reportUnread(messages, batch, this.#settings)
    try {
      const settled = batch.records.length === 0 ? undefined : this.#options.onBatch(batch)
      if (settled !== undefined) await this.#beatUntil(payload, settled)
    } catch (thrown) {
      return this.#fail(faultOf(thrown, `Handling a batch of ${topic}/${partition}`))
    }
    // After a seek, or a join that set a new position for the partition, this code must not move the position.
    if (joins !== this.#joins || !this.#joined || payload.isStale()) return
    // With the last record, kafkajs also passes the invisible records after it in the batch.
    payload.resolveOffset(last.offset)
    this.#passed({ topic, partition }, next)
  }

  #passed({ topic, partition }: TopicPartition, next: number): void {
    const place = { topic, partition }
    if (this.#isMine(place) && this.#order.isInOrder(place)) this.#options.onPassed?.({ ...place, offset: next })
  }

  /** Keeps the session alive while a batch waits. kafkajs repeats a refused heartbeat after the batch, and handles it there. */
  async #beatUntil(payload: EachBatchPayload, settled: Promise<void>): Promise<void> {
    this.#open.add(payload)
    const beat = (): void => {
      for (const { heartbeat } of this.#open) return void heartbeat().catch(() => {})
    }
    this.#beating ??= setInterval(beat, this.#beatMs)
    this.#heartbeats.beat ??= beat
    try {
      await settled
    } finally {
      this.#open.delete(payload)
      if (this.#open.size === 0) {
        clearInterval(this.#beating)
        this.#beating = undefined
        this.#heartbeats.beat = undefined
      }
    }
  }

  #mine<Place extends TopicPartition>(places: Place[]): Place[] {
    return places.filter((place) => this.#isMine(place))
  }

  #isMine({ topic, partition }: TopicPartition): boolean {
    return this.#joined && this.#assigned.get(topic)?.includes(partition) === true
  }
}

const placesIn = (assigned: ReadonlyMap<string, readonly number[]>): TopicPartition[] =>
  [...assigned].flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition })))
