/**
 * A member of a group of Duelog: its user data, and what it does with partitions that it loses. A member that is asked about what it
 * loses (onRevoked) is cooperative, as in KIP-429:
 *
 *   assigned ──join without it──► revoking ──committed by the caller──► claimed no longer, by another join
 *        ▲                           │
 *        └──────── join with it ─────┘
 */
import { DuelogError } from '../../../ground/errors/index.ts'
import type { GroupReader, GroupReaderOptions, Position, TopicPartition } from '../../../ground/ports/index.ts'
import { faultOf, type GroupMember, type Joined, type KafkaClient, rootTypeOf } from '../client/index.ts'
import { type AssignerKind, protocolNameOf, protocolOf } from './assignors.ts'
import { userDataOf } from './member-user-data.ts'

/** After this time since the first try the caller of a commit gets the refusal. Joins take less, unless a member has died. */
export const commitAgainMsMax = 5_000
/** The join may have ended before the refusal arrived. */
const joinWaitMs = 100

export class KafkaGroupReader implements GroupReader {
  readonly #options: GroupReaderOptions
  readonly #client: KafkaClient
  readonly #member: GroupMember
  readonly #revoked: RevokedPartitions
  /** Partitions that this member reads now, by topic. Empty unless joined. */
  #assigned = new Map<string, number[]>()
  /** Counts joins. */
  #joins = 0
  #memberId: string | undefined
  #isJoined = false
  #nextJoin = Promise.withResolvers<void>()
  readonly #cancelReachWatch: (() => void) | undefined
  #started: Promise<void> | undefined

  constructor(client: KafkaClient, options: GroupReaderOptions) {
    this.#options = options
    this.#client = client
    const { assignment = 'round-robin', startAt = 'earliest', readCommitted = true } = options
    const isOwner = assignment === 'co-partitioned'
    this.#revoked = new RevokedPartitions(
      (partitions) => options.onRevoked?.(partitions),
      () => void this.rejoin().catch(() => {}),
    )
    const note = () => {
      this.#member.heartbeats.joining()
      const isYielding = (): boolean => client.isolation.isIsolated
      return userDataOf({ ...options, isYielding }, this.#assigned, this.#member.generation, this.#revoked.numbers)
    }
    const kinds: AssignerKind[] = assignment === 'open' ? ['co-partitioned', 'range'] : [assignment]
    this.#member = client.member({
      ...{ groupId: options.groupId, topics: options.topics, startAt, readCommitted },
      protocols: kinds.map((kind) => protocolOf(kind, note)),
      // An owner's successor waits for its heartbeats.
      isUrgent: isOwner,
      // An owner always has paused topics, and changes them at joins and errors only, when it is busy.
      isPatientWhilePaused: isOwner,
      onAssigned: (joined) => this.#onAssigned(joined),
      onRebalance: () => options.onRebalance?.(),
      // The next join still claims its partitions, so that it may get them back.
      onForgotten: () => {
        this.#isJoined = false
      },
      onBatch: (batch) => this.#guarded(() => options.onBatch(batch), `Handling a batch of ${batch.topic}/${batch.partition}`),
      onPassed: (position) => options.onPassed?.(position),
      onCrash: (error) => {
        this.#end()
        options.onCrash(error)
      },
    })
    // If the membership ends first, the next one sends it.
    if (assignment !== 'round-robin') this.#cancelReachWatch = client.isolation.onChange(() => void this.rejoin().catch(() => {}))
  }

  /** Resolves at the first join. Rejects with DuelogError, for example `broker-unavailable` or `unsafe-topic`; it has stopped then. */
  start(): Promise<void> {
    this.#started ??= this.#start()
    return this.#started
  }

  pause(partitions: TopicPartition[]): void {
    this.#member.pause(this.#mine(partitions), true)
  }

  resume(partitions: TopicPartition[]): void {
    this.#member.pause(this.#mine(partitions), false)
  }

  seek(position: Position): void {
    if (this.#isMine(position)) this.#member.seek(position)
  }

  /**
   * Positions of partitions that are neither ours nor being revoked are left out: their new reader commits them. While nothing is
   * ours, because the group has removed us, it rejects. A caller that took them as committed would forget records that are read again
   * soon. What the group refuses only because it shares its partitions anew is sent again after the join, for at most 5 s (KIP-429).
   */
  async commit(positions: Position[]): Promise<void> {
    const beganMs = performance.now()
    let ours = positions
    for (;;) {
      if (ours.length > 0 && !this.#isJoined)
        throw new DuelogError('not-ready', `The reader of ${this.#options.groupId} is not in its group; nothing was committed.`)
      // Once a partition has been neither ours nor claimed, others may have committed more of it.
      ours = ours.filter((position) => this.#isMine(position) || this.#revoked.has(position))
      if (ours.length === 0) return
      const memberId = this.#memberId
      try {
        return await this.#member.commit(ours)
      } catch (thrown) {
        const isWorthIt = isBetweenJoins(thrown) && performance.now() - beganMs < commitAgainMsMax
        if (isWorthIt) await this.#nextJoinOr(joinWaitMs)
        // A member that has another id was not in the group meanwhile.
        if (!isWorthIt || (this.#isJoined && memberId !== this.#memberId))
          throw faultOf(thrown, `Committing offsets of group ${this.#options.groupId}`)
      }
    }
  }

  nextHeartbeat(): Promise<void> {
    return this.#member.nextHeartbeat()
  }

  rejoin(): Promise<void> {
    return this.#member.rejoin()
  }

  get isMember(): boolean {
    return !this.#member.isStopped && this.#member.heartbeats.isMember
  }

  stop(): Promise<void> {
    this.#end()
    return this.#client.closed(this.#member.stop(), `The reader of group ${this.#options.groupId}`)
  }

  async #start(): Promise<void> {
    try {
      await this.#client.counts.of(this.#options.topics.map((topic) => ({ topic })))
      await this.#member.start()
    } catch (thrown) {
      await this.stop()
      throw thrown
    }
  }

  /** onBatch must not throw: the batch would be delivered again forever. */
  #guarded(handle: () => void | Promise<void>, doing: string): void | Promise<void> {
    const failed = (thrown: unknown): void => {
      if (this.#member.isStopped) return
      this.#options.onCrash(faultOf(thrown, doing))
      // Not awaited: leaving waits for the batch that called us.
      void this.stop()
    }
    try {
      return handle()?.catch(failed)
    } catch (thrown) {
      failed(thrown)
    }
  }

  #end(): void {
    this.#cancelReachWatch?.()
    this.#forget()
  }

  #onAssigned({ assigned, memberId, protocol }: Joined) {
    const before = placesIn(this.#assigned)
    this.#assigned = new Map(
      [...Map.groupBy(assigned, ({ topic }) => topic)].map(([topic, places]) => [
        topic,
        places.map(({ partition }) => partition),
      ]),
    )
    this.#isJoined = true
    // A new member id means that the group had removed us: others may have had our partitions meanwhile. The gap in the count
    // shows that.
    this.#joins += this.#memberId === undefined || this.#memberId === memberId ? 1 : 2
    // By another rule all that it lost, also earlier, belongs to others already. A late commit would set them back.
    if (protocol !== protocolNameOf('co-partitioned')) this.#revoked.clear()
    else if (this.#options.onRevoked !== undefined) {
      this.#member.heartbeats.hurry()
      this.#revoked.joined(before, assigned, this.#memberId === memberId)
    }
    this.#memberId = memberId
    const wanted = this.#options.onAssigned(assigned, this.#joins)
    this.#wakeCommits()
    return wanted
  }

  #forget(): void {
    this.#isJoined = false
    this.#assigned = new Map()
    this.#revoked.clear()
    this.#wakeCommits()
  }

  #wakeCommits(): void {
    this.#nextJoin.resolve()
    this.#nextJoin = Promise.withResolvers()
  }

  /** Resolves with the next join or the end of the membership, and after this time at the latest. */
  async #nextJoinOr(ms: number): Promise<void> {
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, ms)
    await Promise.race([this.#nextJoin.promise, late.promise])
    clearTimeout(timer)
  }

  #mine(places: readonly TopicPartition[]): TopicPartition[] {
    return places.filter((place) => this.#isMine(place))
  }

  #isMine({ topic, partition }: TopicPartition): boolean {
    return this.#isJoined && this.#assigned.get(topic)?.includes(partition) === true
  }
}

/** Whether the member may be in the group and only the generation of the commit was not that of the group. */
function isBetweenJoins(thrown: unknown): boolean {
  const type = rootTypeOf(thrown)
  return type === 'ILLEGAL_GENERATION' || type === 'REBALANCE_IN_PROGRESS'
}

const placesIn = (assigned: ReadonlyMap<string, readonly number[]>): TopicPartition[] =>
  [...assigned].flatMap(([topic, partitions]) => partitions.map((partition) => ({ topic, partition })))

const keyOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export class RevokedPartitions {
  readonly #giveUp: (partitions: TopicPartition[]) => Promise<void> | undefined
  readonly #rejoin: () => void
  /** By topic and partition. A new object each time that it is lost, so that an earlier loss does not end a later one. */
  readonly #places = new Map<string, TopicPartition>()

  /** `giveUp` must not reject. `rejoin` is called when some of the partitions are claimed no longer. */
  constructor(giveUp: (partitions: TopicPartition[]) => Promise<void> | undefined, rejoin: () => void) {
    this.#giveUp = giveUp
    this.#rejoin = rejoin
  }

  /** Partition numbers, for the claim. */
  get numbers(): number[] {
    return Array.from(this.#places.values(), ({ partition }) => partition)
  }

  has(place: TopicPartition): boolean {
    return this.#places.has(keyOf(place))
  }

  /**
   * A join has replaced the partitions `before` by those of `now`. What comes back is read from its committed position. If the group
   * had removed the member (`isSame` false), others may have read its partitions since. But it claimed them in this join, so nobody
   * may have them before it joins without that claim.
   */
  joined(before: readonly TopicPartition[], now: readonly TopicPartition[], isSame: boolean): void {
    const assigned = new Set(now.map(keyOf))
    for (const key of assigned) this.#places.delete(key)
    const lost = before.filter((place) => !assigned.has(keyOf(place))).map(({ topic, partition }) => ({ topic, partition }))
    if (isSame) return this.#add(lost)
    const hasClaimed = lost.length > 0 || this.#places.size > 0
    this.#places.clear()
    if (hasClaimed) this.#rejoin()
  }

  /** The membership has ended: others get the partitions at once. */
  clear(): void {
    this.#places.clear()
  }

  #add(lost: TopicPartition[]): void {
    if (lost.length === 0) return
    for (const place of lost) this.#places.set(keyOf(place), place)
    void this.#giveUp(lost)?.then(() => this.#givenUp(lost))
  }

  #givenUp(lost: readonly TopicPartition[]): void {
    const open = lost.filter((place) => this.#places.get(keyOf(place)) === place)
    for (const place of open) this.#places.delete(keyOf(place))
    if (open.length > 0) this.#rejoin()
  }
}
