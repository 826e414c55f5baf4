/**
 * A member of a consumer group, over kafkajs's connections.
 *
 *   start ──► joining ──assigned──► reading ──rebalance, or rejoin()──► its batches settle ──► joining …
 *                └─────── what will not change, or stop() ───────┴──► stopped
 *
 * Heartbeats run beside the fetches. If the coordinator is lost, the next one is looked up (coordinator.ts). The whole assignment
 * applies anew at each join: positions and pauses that `onAssigned` returns, and the group's committed offset for all others.
 */
import type { Kafka } from 'kafkajs'
import { DuelogError, GroupNotKept } from '../../../ground/errors/index.ts'
import type { Batch, Position, TopicPartition } from '../../../ground/ports/index.ts'
import { type Cluster, clusterOf, unveiled } from './cluster.ts'
import { faultOn, type LogSettings } from './connection.ts'
import { Coordinator, type GroupProtocol, type Joined } from './coordinator.ts'
import { growingWaits, isLoss, isUnexplained, retryMs, retryWhile, rootTypeOf } from './errors.ts'
import { Fetches, keyOf } from './fetches.ts'
import { Heartbeats, loneWaitMs } from './heartbeats.ts'
import { offsetOfEnd } from './offsets.ts'
import { reportUnread } from './record-batches.ts'

export interface GroupMemberOptions {
  groupId: string
  topics: readonly string[]
  /** The best first. */
  protocols: readonly GroupProtocol[]
  beatMs: number
  /** Whether a reader to which nothing happens waits longer for records also while a partition is paused. */
  isPatientWhilePaused: boolean
  startAt: 'earliest' | 'latest'
  readCommitted: boolean
  /** Called synchronously at each join, before the first fetch. */
  onAssigned(joined: Joined): { positions?: Position[]; paused?: TopicPartition[] } | undefined
  onRebalance(): void
  /** The group does not know the member any more; it joins as another one. */
  onForgotten(): void
  onBatch(batch: Batch): void | Promise<void>
  onPassed(position: Position): void
  /** The membership has ended, and will not begin again. */
  onCrash(error: DuelogError): void
}

/** The group shares its partitions anew. */
const rebalancing: ReadonlySet<string | undefined> = new Set(['REBALANCE_IN_PROGRESS', 'ILLEGAL_GENERATION'])
/** A commit waits for a lost coordinator for this long, ms. */
const commitMsMax = 10_000
/** Between two heartbeats after a loss of the coordinator, ms. */
const againMs = 50

export class GroupMember {
  readonly #kafka: Kafka
  readonly #settings: LogSettings
  readonly #options: GroupMemberOptions
  readonly #cluster: Cluster
  readonly #coordinator: Coordinator
  readonly #fetches: Fetches
  readonly heartbeats: Heartbeats
  readonly #started = Promise.withResolvers<void>()
  #isJoined = false
  #hasStarted = false
  #isStopped = false
  #isChecking = false
  /** The last join, which may wait for the group. */
  #joining: Promise<void> | undefined
  #running: Promise<void> | undefined
  #stopping: Promise<void> | undefined
  #partitionCount = 0

  constructor(kafka: Kafka, settings: LogSettings, options: GroupMemberOptions) {
    this.#kafka = kafka
    this.#settings = settings
    this.#options = options
    const isolation = options.readCommitted ? 'committed' : 'uncommitted'
    this.#cluster = clusterOf(kafka, isolation)
    this.#coordinator = new Coordinator(this.#cluster, options.groupId)
    const { beatMs, isPatientWhilePaused } = options
    const isAlone = (): boolean => this.#coordinator.isAlone
    this.heartbeats = new Heartbeats(beatMs, settings.sessionTimeoutMs, () => isAlone() && this.#fetches.isQuiet)
    this.#started.promise.catch(() => {})
    this.#fetches = new Fetches({
      ...{ cluster: this.#cluster, isolation },
      ...{ fetchBytes: settings.fetchBytes, fetchPartitionBytes: settings.fetchPartitionBytes },
      ...{ quietWaitMs: () => (isAlone() ? Math.max(beatMs, loneWaitMs) : beatMs), isPatientWhilePaused },
      ...{ onBatch: options.onBatch, onPassed: options.onPassed },
      onUnread: (unread, place) => reportUnread(unread, place, settings),
      onOutOfRange: (place) => offsetOfEnd(this.#cluster, place, options.startAt),
      onFault: (error) => void this.#crash(error),
      onMetadata: () => this.#checkPartitions(),
    })
  }

  /** Resolves at the first join. Rejects with DuelogError; the member has stopped then. */
  async start(): Promise<void> {
    try {
      await this.#cluster.connect()
      await this.#cluster.addMultipleTargetTopics([...this.#options.topics])
      if (this.#isStopped) throw this.#over()
      this.#running = this.#run()
      await this.#started.promise
    } catch (thrown) {
      await this.stop()
      throw faultOn(this.#kafka, thrown, `Joining group ${this.#options.groupId}`)
    }
  }

  /** Leaves the group after its batches have settled. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  get generation(): number {
    return this.#coordinator.generation
  }

  pause(places: readonly TopicPartition[], isPaused: boolean): void {
    this.#fetches.pause(places, isPaused)
  }

  seek(position: Position): void {
    this.#fetches.seek(position)
  }

  /** Rejects with what the group answers, and with `not-ready` while the member is not in it. */
  async commit(positions: readonly Position[]): Promise<void> {
    const ask = async (): Promise<void> => {
      if (this.#isJoined && !this.#isStopped) return this.#coordinator.commit(positions)
      throw new DuelogError('not-ready', `The reader of ${this.#options.groupId} is not in its group; nothing was committed.`)
    }
    await retryWhile(isLoss, growingWaits(performance.now() + commitMsMax), ask)
  }

  nextHeartbeat(): Promise<void> {
    return this.#isStopped ? Promise.reject(this.#over()) : this.heartbeats.next()
  }

  rejoin(): Promise<void> {
    return this.#isStopped ? Promise.reject(this.#over()) : this.heartbeats.rejoin()
  }

  #over(): DuelogError {
    return new DuelogError('not-ready', `The reader of ${this.#options.groupId} has stopped.`)
  }

  async #run(): Promise<void> {
    while (!this.#isStopped)
      try {
        this.#joining = this.#join()
        await this.#joining
        await this.#stay()
      } catch (error) {
        if (!this.#isStopped) await this.#failed(error)
      }
  }

  async #join(): Promise<void> {
    await this.#coordinator.find()
    if (this.#isStopped) return
    const { syncedAtMs, ...joined } = await this.#coordinator.join(this.#options, this.#settings)
    if (this.#isStopped) return
    this.heartbeats.counted(syncedAtMs)
    this.#assigned(joined)
  }

  /** Runs synchronously before the first fetch of the new assignment. */
  #assigned(joined: Joined): void {
    this.#isJoined = true
    this.#partitionCount = this.#countAll()
    const wanted = this.#options.onAssigned(joined)
    const positions = new Map(wanted?.positions?.map(({ offset, ...place }) => [keyOf(place), offset]))
    const paused = new Set(wanted?.paused?.map(keyOf))
    this.#fetches.assign(
      joined.assigned.map((place) => ({ ...place, next: positions.get(keyOf(place)), isPaused: paused.has(keyOf(place)) })),
    )
    void this.#placeAll()
    this.heartbeats.joined()
    this.#hasStarted = true
    this.#started.resolve()
  }

  /** Sends heartbeats until the member has to join again. */
  async #stay(): Promise<void> {
    while (!this.#isStopped) {
      if (this.heartbeats.wantsRejoin) return this.#leaveReading()
      await this.heartbeats.due()
      if (this.#isStopped || this.heartbeats.wantsRejoin) continue
      const sentAtMs = performance.now()
      try {
        await this.#coordinator.heartbeat()
        this.heartbeats.answered(sentAtMs)
      } catch (error) {
        if (rebalancing.has(rootTypeOf(error))) return this.#leaveReading()
        if (!isLoss(error)) throw error
        await this.heartbeats.wait(againMs)
      }
    }
  }

  /** Nothing more is read, and heartbeats go on until all batches have settled. */
  async #leaveReading(): Promise<void> {
    this.#options.onRebalance()
    const settled = this.#fetches.halt().then(() => true)
    for (;;) {
      const isSettled = await Promise.race([settled, this.heartbeats.later()])
      if (isSettled === true || this.#isStopped) return
      await this.#coordinator.heartbeat().catch(() => {})
    }
  }

  /** Decides whether the member tries again. */
  async #failed(thrown: unknown): Promise<void> {
    const type = rootTypeOf(thrown)
    if (type === 'UNKNOWN_MEMBER_ID') {
      this.#isJoined = false
      this.#coordinator.memberId = ''
      this.#options.onForgotten()
      return void (await this.#fetches.halt())
    }
    if (rebalancing.has(type)) return
    if (!isLoss(thrown)) return this.#crash(thrown)
    void this.#checkRights(thrown)
    await this.heartbeats.wait(retryMs)
  }

  /** kafkajs reports a missing right as a group without a coordinator. A member that has joined before goes on: the right may come back. */
  async #checkRights(thrown: unknown): Promise<void> {
    if (this.#isChecking) return
    this.#isChecking = true
    const error = await this.#faultOf(thrown)
    this.#isChecking = false
    if (error.code !== 'kafka-denied' || this.#isStopped) return
    this.#settings.logger.error({ event: 'group-denied', groupId: this.#options.groupId }, error.message)
    if (!this.#hasStarted) await this.#crash(error)
  }

  async #faultOf(thrown: unknown): Promise<DuelogError> {
    const { groupId } = this.#options
    const error = await unveiled(this.#kafka, thrown, groupId)
    if (isUnexplained(error)) return new GroupNotKept(groupId, error)
    return faultOn(this.#kafka, error, `Reading as a member of group ${groupId}`)
  }

  async #crash(thrown: unknown): Promise<void> {
    if (this.#isStopped) return
    const error = thrown instanceof DuelogError ? thrown : await this.#faultOf(thrown)
    if (this.#isStopped) return
    // Before the end, which rejects it too.
    this.#started.reject(error)
    this.#end()
    if (!this.#hasStarted) return
    this.#options.onCrash(error)
    void this.stop()
  }

  #end(): void {
    this.#isStopped = true
    this.#isJoined = false
    this.heartbeats.end(this.#over())
    this.#started.reject(this.#over())
  }

  async #stop(): Promise<void> {
    this.#end()
    await this.#fetches.stop()
    // The group lets a member go that is joining only once it has answered it.
    await this.#joining?.catch(() => {})
    await this.#coordinator.leave()
    await this.#cluster.disconnect().catch(() => {})
    await this.#running
  }

  #countAll(): number {
    return this.#options.topics.reduce((sum, topic) => sum + this.#cluster.findTopicPartitionMetadata(topic).length, 0)
  }

  /** Partitions that were added have no reader until the group shares anew. */
  #checkPartitions(): void {
    if (this.#isJoined && this.#countAll() > this.#partitionCount) void this.rejoin().catch(() => {})
  }

  /** Asks the group for the positions that nobody has given. */
  async #placeAll(): Promise<void> {
    const { generation } = this
    const isCurrent = (): boolean => !this.#isStopped && this.#isJoined && generation === this.generation
    while (isCurrent() && this.#fetches.unplaced.length > 0)
      try {
        const found = await this.#coordinator.positions(this.#fetches.unplaced, this.#options.startAt)
        for (const position of found) if (isCurrent()) this.#fetches.place(position)
      } catch (error) {
        if (!isCurrent()) return
        if (!isLoss(error)) return this.#crash(error)
        await this.heartbeats.wait(retryMs)
      }
  }
}
