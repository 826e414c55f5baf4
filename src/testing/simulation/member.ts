/** A member of a simulated consumer group: the port through which a process reads, moved step by step by the simulator. */
import { DuelogError } from '../../ground/errors/index.ts'
import type { GroupReader, GroupReaderOptions, Position, TopicPartition } from '../../ground/ports/index.ts'
import { RevokedPartitions, userDataOf } from '../../log/kafka/index.ts'
import type { Chance } from './chance.ts'
import type { Io, Machine } from './io.ts'
import type { MemoryLog, PartitionLog } from './memory-log.ts'

/** A member may be removed this long after its last heartbeat. */
export const sessionMs = 10_000

/** The size of a fetch for one partition: this number of bytes, or one record. */
const fetchBytesMax = 1_048_576

/** What a member knows of its group (group.ts). */
export interface MemberGroup {
  readonly log: MemoryLog
  readonly io: Io
  readonly chance: Chance
  readonly members: ReadonlySet<unknown>
  /** Violations: what a member did and no member may do. */
  readonly faults: string[]
  readonly keep: ((member: Member, positions: readonly Position[]) => void) | undefined
  positionOf(place: TopicPartition): number
  join(member: Member): void
  leave(member: Member): void
}

/** A partition that the member reads, and how far it is. */
interface Assigned extends TopicPartition {
  position: number
  paused: boolean
  seeks: number
}

const placeOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export class Member implements GroupReader {
  readonly machine: Machine
  readonly id: string
  readonly #group: MemberGroup
  readonly #options: GroupReaderOptions
  /** An assignment of the group that the member does not know yet. */
  promised: { generation: number; partitions: number[]; standbys: number[]; awaited: number[] } | undefined
  /** Whether it is in the group, by its own knowledge, with the assignment it knows. */
  fetching = false
  #assigned = new Map<string, Assigned>()
  #busy = false
  #stopped = false
  #started = Promise.withResolvers<void>()
  #heartbeats: { resolve(): void; reject(error: Error): void }[] = []
  #rejoins: { isTold: boolean; resolve(): void; reject(error: Error): void }[] = []
  /** Whether it has announced to the group that it is about to leave. */
  isLeaving = false
  #isOutOfReach = false
  #joins = 0
  #generation = 0
  /** Joins as its reader counts them: the group had removed it before a join that is counted twice. */
  #counted = 0
  #hasLapsed = false
  readonly #revoked: RevokedPartitions
  /** When the group last received something from it, by the steady clock of its machine. */
  #countedAtMs = Number.NEGATIVE_INFINITY
  /** Whether neither the group nor the logs can be reached. */
  isIsolated = false
  /** Called with each position that it seeks to. */
  onSeek: ((position: Position) => void) | undefined

  constructor(machine: Machine, group: MemberGroup, options: GroupReaderOptions) {
    this.machine = machine
    this.id = `${machine.name}-${options.groupId}`
    this.#group = group
    this.#options = options
    this.#revoked = new RevokedPartitions(
      (partitions) => options.onRevoked?.(partitions),
      () => void this.rejoin().catch(() => {}),
    )
  }

  async start(): Promise<void> {
    await this.#group.io.submit(this.machine, 'joins', () => this.#group.join(this))
    await this.#started.promise
  }

  pause(places: TopicPartition[]): void {
    for (const place of places) this.#set(place, { paused: true })
  }

  resume(places: TopicPartition[]): void {
    for (const place of places) this.#set(place, { paused: false })
  }

  seek(position: Position): void {
    const known = this.#assigned.get(placeOf(position))
    if (known !== undefined) Object.assign(known, { position: position.offset, seeks: known.seeks + 1 })
    this.onSeek?.(position)
  }

  /** The position is not in the log, so the log is read from its beginning. */
  refusePosition(place: TopicPartition): void {
    const known = this.#assigned.get(placeOf(place))
    if (known !== undefined) known.position = this.#group.log.at(place.topic, place.partition).earliest
  }

  async commit(positions: Position[]): Promise<void> {
    const { io, keep } = this.#group
    if (keep !== undefined) await io.submit(this.machine, 'commits positions', () => keep(this, positions))
  }

  get instance(): string {
    return this.#options.instance
  }

  get userData(): unknown {
    return this.#options.userData?.() ?? null
  }

  /** The partitions that it reads. */
  get assigned(): TopicPartition[] {
    return Array.from(this.#assigned.values(), ({ topic, partition }) => ({ topic, partition }))
  }

  get topics(): string[] {
    return this.#options.topics
  }

  /** The note that it sends when it joins. */
  get note(): Buffer {
    const assigned = new Map<string, number[]>()
    for (const { topic, partition } of this.#assigned.values()) assigned.set(topic, [...(assigned.get(topic) ?? []), partition])
    const isYielding = (): boolean => this.#isOutOfReach
    return Buffer.from(
      JSON.stringify(userDataOf({ ...this.#options, isYielding }, assigned, this.#generation, this.#revoked.numbers)),
    )
  }

  promise(generation: number, assignment: Record<string, number[]>): void {
    const { topics, standbys } = this.#options
    const only = topics.find((topic) => topic !== standbys?.warmth.topic && standbys?.topics.includes(topic) !== true)
    const partitions = assignment[only ?? ''] ?? []
    const besides = (topic: string | undefined): number[] =>
      (assignment[topic ?? ''] ?? []).filter((partition) => !partitions.includes(partition))
    this.promised = {
      ...{ generation, partitions },
      ...{ standbys: besides(standbys?.topics[0]), awaited: besides(standbys?.warmth.topic) },
    }
  }

  /** Whether its session has ended for good. */
  get hasEnded(): boolean {
    return this.#stopped
  }

  /** Whether it knows the assignment that is in force. */
  get current(): boolean {
    return this.#group.members.has(this) && this.promised === undefined
  }

  /** Its session ends and does not come back, as when its connections were lost for too long. */
  crash(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.fetching = false
    for (const { reject } of [...this.#heartbeats.splice(0), ...this.#rejoins.splice(0)])
      reject(new DuelogError('not-ready', 'The reader has crashed.'))
    this.#group.leave(this)
    this.#options.onCrash(new DuelogError('broker-unavailable', 'The session was lost.'))
  }

  nextHeartbeat(): Promise<void> {
    if (this.#stopped) return Promise.reject(new DuelogError('not-ready', 'The reader has stopped.'))
    return new Promise((resolve, reject) => this.#heartbeats.push({ resolve, reject }))
  }

  /** One broker cannot be reached, or can be reached again. The member detects this itself. */
  outOfReach(isSo: boolean): void {
    this.#isOutOfReach = this.isLeaving = isSo
    this.#group.join(this)
  }

  async rejoin(): Promise<void> {
    if (this.#stopped) throw new DuelogError('not-ready', 'The reader has stopped.')
    await new Promise<void>((resolve, reject) => {
      const rejoin = { isTold: false, resolve, reject }
      this.#rejoins.push(rejoin)
      void this.#group.io.submit(this.machine, 'joins again', () => {
        rejoin.isTold = true
        this.isLeaving = this.#options.isLeaving?.() === true
        this.#group.join(this)
      })
    })
  }

  get isMember(): boolean {
    return !this.#stopped && this.machine.clock.steadyMs() - this.#countedAtMs < sessionMs
  }

  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.fetching = false
    for (const { reject } of [...this.#heartbeats.splice(0), ...this.#rejoins.splice(0)])
      reject(new DuelogError('not-ready', 'The reader has stopped.'))
    await this.#group.io.submit(this.machine, 'leaves', () => this.#group.leave(this))
  }

  /** A reader whose position is out of range continues at the earliest record, as `auto.offset.reset` says. */
  lostPlace(place: TopicPartition): void {
    const known = this.#assigned.get(placeOf(place))
    const log = this.#group.log.at(place.topic, place.partition)
    if (known !== undefined && known.position > log.next) Object.assign(known, { position: log.earliest, seeks: known.seeks + 1 })
  }

  get #live(): boolean {
    return this.machine.alive && !this.machine.frozen && !this.#stopped
  }

  /** The steps it can do at this time. */
  get moves(): ('learn' | 'beat' | 'rejoin' | 'fetch')[] {
    if (!this.#live || this.#joins + (this.promised ? 1 : 0) === 0) return []
    if (this.isIsolated) return []
    const inGroup = this.#group.members.has(this)
    if (inGroup && this.fetching) this.#countedAtMs = this.machine.clock.steadyMs()
    if (!inGroup) return ['rejoin']
    if (this.promised !== undefined) return ['learn']
    const moves: ('beat' | 'fetch')[] = []
    if (this.fetching && this.#heartbeats.length > 0) moves.push('beat')
    if (this.fetching && !this.#busy && this.#hasReadable) moves.push('fetch')
    return moves
  }

  move(what: 'learn' | 'beat' | 'rejoin' | 'fetch'): void {
    if (what === 'rejoin') {
      this.#hasLapsed = true
      this.#group.join(this)
    } else if (what === 'learn') this.#learn()
    else if (what === 'fetch') void this.#fetch()
    else for (const { resolve } of this.#heartbeats.splice(0)) resolve()
  }

  #set(place: TopicPartition, change: { paused: boolean }): void {
    const known = this.#assigned.get(placeOf(place))
    if (known !== undefined) Object.assign(known, change)
  }

  #learn(): void {
    const { generation, partitions, standbys, awaited } = this.promised ?? {
      ...{ generation: 0, partitions: [], standbys: [], awaited: [] },
    }
    this.promised = undefined
    this.#joins++
    this.#generation = generation
    this.#counted += this.#hasLapsed ? 2 : 1
    const before = [...this.#assigned.values()]
    this.#assigned = new Map()
    const followed = this.#options.standbys?.topics ?? []
    const places = this.#options.topics.flatMap((topic) =>
      [
        ...partitions,
        ...(followed.includes(topic) ? standbys : topic === this.#options.standbys?.warmth.topic ? awaited : []),
      ].map((partition) => ({ topic, partition })),
    )
    for (const place of places) {
      const position = this.#group.positionOf(place)
      this.#assigned.set(placeOf(place), { ...place, position, paused: false, seeks: 0 })
    }
    if (this.#options.onRevoked !== undefined) this.#revoked.joined(before, places, !this.#hasLapsed)
    this.#hasLapsed = false
    const wanted = this.#options.onAssigned(places, this.#counted)
    for (const position of wanted?.positions ?? []) this.seek(position)
    this.pause(wanted?.paused ?? [])
    this.fetching = true
    this.#countedAtMs = this.machine.clock.steadyMs()
    this.#started.resolve()
    for (const { resolve } of this.#rejoins.filter(({ isTold }) => isTold)) resolve()
    this.#rejoins = this.#rejoins.filter(({ isTold }) => !isTold)
  }

  /** Asked at every step, so no list is made. */
  get #hasReadable(): boolean {
    for (const place of this.#assigned.values()) if (this.#isReadable(place)) return true
    return false
  }

  /** Looked up each time: a topic may be deleted and created again. */
  #logOf(place: Assigned): PartitionLog {
    return this.#group.log.at(place.topic, place.partition)
  }

  #isReadable(place: Assigned): boolean {
    const log = this.#logOf(place)
    return !place.paused && place.position < log.next && place.position < log.stableEnd && log.earliest < log.stableEnd
  }

  /** One round: a batch of some of the partitions. The next round comes when all batches were taken. */
  async #fetch(): Promise<void> {
    const { chance, faults } = this.#group
    this.#busy = true
    const assigned = this.#assigned
    const rounds = [...this.#assigned.values()].filter((place) => this.#isReadable(place) && chance.happens(0.7))
    const max = chance.pick([1, 3, 50])
    await Promise.all(
      rounds.map(async (place) => {
        const { topic, partition, position, seeks } = place
        const log = this.#logOf(place)
        const { records, next } = log.read(position, max, fetchBytesMax)
        if (records.length > 0) {
          try {
            await this.#options.onBatch({ topic, partition, records, next, highWatermark: log.next })
          } catch (error) {
            faults.push(`onBatch of ${topic}/${partition} threw ${String(error)}`)
          }
        }
        if (assigned !== this.#assigned || place.seeks !== seeks) return
        place.position = next
        this.#options.onPassed?.({ topic, partition, offset: next })
      }),
    )
    this.#busy = false
  }
}
