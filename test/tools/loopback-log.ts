/**
 * The log port over the log in memory, without delays, retries or rebalances of its own. The test assigns partitions and causes
 * failures.
 */
import type {
  GroupReader,
  GroupReaderOptions,
  Log,
  LogAdmin,
  LogWriter,
  Position,
  RecordIn,
  RecordOut,
  TopicPartition,
  TransactionalWriter,
} from '../../src/ground/ports/log.ts'
import { MemoryLog } from './memory-log.ts'

const placeOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export class LoopbackLog implements Log {
  readonly partitions: number
  readonly readers: LoopbackReader[] = []
  /** Group offsets by `group topic/partition`. */
  readonly committed = new Map<string, number>()
  /** What was committed with them. */
  readonly metadata = new Map<string, string | undefined>()
  readonly #log: MemoryLog
  /** Writes fail while it is set. */
  refusal: Error | undefined
  /** The error for a write of these records; undefined: the write succeeds. */
  refusalOf: (records: readonly RecordOut[]) => Error | undefined = () => this.refusal
  /** Writes wait for it. */
  gate: Promise<void> | undefined
  /** Readers cannot join their groups while it is set. */
  readerRefusal: Error | undefined
  /** While it is set, groups share their partitions, and do not show the names of their members. */
  areGroupsJoining = false
  openWriters = 0
  writes = 0
  nowMs: () => number = () => 0

  constructor(partitions = 2) {
    this.partitions = partitions
    this.#log = new MemoryLog(partitions, () => this.nowMs())
  }

  records(topic: string, partition?: number): RecordIn[] {
    if (partition !== undefined) return this.read(topic, partition, 0, Number.POSITIVE_INFINITY).records
    return Array.from({ length: this.partitions }, (_, index) => this.records(topic, index)).flat()
  }

  read(topic: string, partition: number, from: number, max: number): { records: RecordIn[]; next: number } {
    const log = this.#log.at(topic, partition)
    return { records: log.read(from, max).records, next: log.next }
  }

  append(record: RecordOut): number {
    const [offset = 0] = this.#append([record]).values()
    return offset
  }

  /** Simulates that somebody deleted the topic and it was made again. */
  recreate(topic: string, partition: number): void {
    this.#log.recreate(this.#log.at(topic, partition))
    for (const reader of this.readers) reader.startOver(topic, partition)
  }

  /** Simulates that the log lost its tail. */
  truncate(topic: string, partition: number, from: number): void {
    this.#log.truncate(this.#log.at(topic, partition), from)
    for (const reader of this.readers) reader.startOver(topic, partition)
  }

  #append(records: RecordOut[]): Map<string, number> {
    const first = this.#log.append(records)
    for (const reader of this.readers) reader.poll()
    return first
  }

  async writer(): Promise<LogWriter> {
    if (this.refusal) throw this.refusal
    this.openWriters++
    let closed = false
    return {
      write: async (records) => {
        this.writes++
        await this.gate
        const refusal = this.refusalOf(records)
        if (refusal) throw refusal
        return this.#append(records)
      },
      close: async () => {
        if (!closed) this.openWriters--
        closed = true
      },
    }
  }

  reader(options: GroupReaderOptions): LoopbackReader {
    const reader = new LoopbackReader(this, options)
    this.readers.push(reader)
    return reader
  }

  transactionalWriter(): Promise<TransactionalWriter> {
    throw new Error('no transactions here')
  }

  async admin(): Promise<LogAdmin> {
    const all = Array.from({ length: this.partitions }, (_, partition) => partition)
    const rangesOf = (topic: string) =>
      all.map((partition) => ({ partition, earliest: 0, next: this.#log.at(topic, partition).next }))
    const committedOf = (groupId: string, topic: string) =>
      all.flatMap((partition) => {
        const place = `${groupId} ${topic}/${partition}`
        const offset = this.committed.get(place)
        const metadata = this.metadata.get(place)
        return offset === undefined ? [] : [{ partition, offset, ...(metadata === undefined ? {} : { metadata }) }]
      })
    return {
      offsets: async (topic) => rangesOf(topic),
      offsetsOf: async (topics) => new Map(topics.map((topic) => [topic, rangesOf(topic)])),
      clusterId: async () => 'memory',
      committed: async (groupId, topic) => committedOf(groupId, topic),
      committedOf: async (groupId, topics) => new Map(topics.map((topic) => [topic, committedOf(groupId, topic)])),
      groups: async () => [],
      groupMembers: async (groupId) =>
        this.readers
          .filter(({ options, running }) => running && options.groupId === groupId)
          .map(({ options: { instance } }, index) => {
            const shown = this.areGroupsJoining ? `member-${index}` : instance
            return { memberId: shown, instance: shown, userData: null, assigned: [], isJoining: this.areGroupsJoining }
          }),
      close: async () => {},
    }
  }
}

export class LoopbackReader implements GroupReader {
  readonly options: GroupReaderOptions
  readonly #log: LoopbackLog
  readonly #positions = new Map<string, number>()
  readonly #paused = new Set<string>()
  #assigned: TopicPartition[] = []
  #polling = false
  #generation = 0
  running = false
  /** The number of delivered records; a record that is read twice counts twice. */
  delivered = 0
  /** The maximum number of records in one batch. */
  batchMax = 1_000
  commitRefusal: Error | undefined

  constructor(log: LoopbackLog, options: GroupReaderOptions) {
    this.#log = log
    this.options = options
  }

  async start(): Promise<void> {
    if (this.#log.readerRefusal) throw this.#log.readerRefusal
    this.running = true
    this.assign(
      this.options.topics.flatMap((topic) =>
        Array.from({ length: this.#log.partitions }, (_, partition) => ({ topic, partition })),
      ),
    )
  }

  /** A rebalance: this member reads these partitions. `missed` generations passed without it. */
  assign(assigned: TopicPartition[], missed = 0): void {
    this.#generation += 1 + missed
    this.#assigned = assigned
    this.#positions.clear()
    this.#paused.clear()
    const wanted = this.options.onAssigned(assigned, this.#generation)
    for (const position of wanted?.positions ?? []) this.#positions.set(placeOf(position), position.offset)
    this.pause(wanted?.paused ?? [])
    this.poll()
  }

  /** A cooperative rebalance: this member loses these partitions. Resolves when others may read them. */
  async revoke(revoked: TopicPartition[]): Promise<void> {
    const places = new Set(revoked.map(placeOf))
    const givenUp = this.options.onRevoked?.(revoked)
    this.assign(this.#assigned.filter((place) => !places.has(placeOf(place))))
    await givenUp
  }

  /** The session ends with this error and does not come back. */
  crash(error: Error): void {
    this.running = false
    this.options.onCrash(error)
  }

  pausedPlaces(): string[] {
    return [...this.#paused]
  }

  pause(partitions: TopicPartition[]): void {
    for (const place of partitions) this.#paused.add(placeOf(place))
  }

  resume(partitions: TopicPartition[]): void {
    for (const place of partitions) this.#paused.delete(placeOf(place))
    this.poll()
  }

  seek(position: Position): void {
    this.#positions.set(placeOf(position), position.offset)
    this.poll()
  }

  /** The position of the reader is not in the log any more, so it starts from the beginning. */
  startOver(topic: string, partition: number): void {
    if (this.#positions.has(placeOf({ topic, partition }))) this.#positions.set(placeOf({ topic, partition }), 0)
  }

  async commit(positions: Position[]): Promise<void> {
    if (this.commitRefusal) throw this.commitRefusal
    for (const position of positions) {
      const place = `${this.options.groupId} ${placeOf(position)}`
      this.#log.committed.set(place, position.offset)
      this.#log.metadata.set(place, position.metadata)
    }
  }

  readonly isMember = true

  async rejoin(): Promise<void> {
    this.assign(this.#assigned)
  }

  nextHeartbeat(): Promise<void> {
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    this.running = false
    this.#assigned = []
  }

  poll(): void {
    if (this.#polling) return
    this.#polling = true
    setImmediate(() => void this.#fetch())
  }

  async #fetch(): Promise<void> {
    const generation = this.#generation
    let more = false
    for (const { topic, partition } of this.#assigned) {
      if (!this.running || generation !== this.#generation) break
      const place = placeOf({ topic, partition })
      if (this.#paused.has(place)) continue
      const from = this.#positions.get(place) ?? this.#log.committed.get(`${this.options.groupId} ${place}`) ?? 0
      const { records, next } = this.#log.read(topic, partition, from, this.batchMax)
      const last = records.at(-1)
      if (last === undefined) continue
      this.#positions.delete(place)
      this.delivered += records.length
      const settled = this.options.onBatch({ topic, partition, records, highWatermark: next })
      if (settled !== undefined) await settled
      if (generation === this.#generation && !this.#positions.has(place)) this.#positions.set(place, last.offset + 1)
      more = true
    }
    this.#polling = false
    if (more || generation !== this.#generation) this.poll()
  }
}
