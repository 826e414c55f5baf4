/** A log in memory: what the doers need of Kafka, without time, retries or rebalances of its own. The test assigns and fails. */
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
} from '../../src/ports.ts'
import { keyPartitionOf, partitionOf } from '../../streams/topics.ts'

const placeOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export class MemoryLog implements Log {
  readonly partitions: number
  readonly readers: MemoryReader[] = []
  /** Group offsets by `group topic/partition`. */
  readonly committed = new Map<string, number>()
  readonly #records = new Map<string, RecordIn[]>()
  /** Writes fail as long as it is set. */
  refusal: Error | undefined
  /** Writes wait for it. */
  gate: Promise<void> | undefined
  openWriters = 0
  writes = 0
  nowMs: () => number = () => 0

  constructor(partitions = 2) {
    this.partitions = partitions
  }

  records(topic: string, partition?: number): RecordIn[] {
    if (partition !== undefined) return this.#records.get(placeOf({ topic, partition })) ?? []
    return Array.from({ length: this.partitions }, (_, index) => this.records(topic, index)).flat()
  }

  append({ topic, partition, key, value }: RecordOut): number {
    const chosen = partition ?? keyPartitionOf(key ?? '', this.partitions)
    const place = placeOf({ topic, partition: chosen })
    const records = this.#records.get(place) ?? []
    this.#records.set(place, records)
    const keyBytes = typeof key === 'string' ? Buffer.from(key) : key
    const offset = records.length
    records.push({ topic, partition: chosen, offset, timestampMs: this.nowMs(), key: keyBytes, value, headers: {} })
    for (const reader of this.readers) reader.poll()
    return offset
  }

  async writer(): Promise<LogWriter> {
    if (this.refusal) throw this.refusal
    this.openWriters++
    let closed = false
    return {
      write: async (records) => {
        this.writes++
        await this.gate
        if (this.refusal) throw this.refusal
        const first = new Map<string, number>()
        for (const record of records) {
          const partition = record.partition ?? (record.ofJob ? partitionOf : keyPartitionOf)(record.key ?? '', this.partitions)
          const offset = this.append({ ...record, partition })
          const place = placeOf({ topic: record.topic, partition })
          if (!first.has(place)) first.set(place, offset)
        }
        return first
      },
      close: async () => {
        if (!closed) this.openWriters--
        closed = true
      },
    }
  }

  reader(options: GroupReaderOptions): MemoryReader {
    const reader = new MemoryReader(this, options)
    this.readers.push(reader)
    return reader
  }

  transactionalWriter(): Promise<TransactionalWriter> {
    throw new Error('no transactions here')
  }

  async admin(): Promise<LogAdmin> {
    return {
      offsets: async (topic) =>
        Array.from({ length: this.partitions }, (_, partition) => {
          return { partition, earliest: 0, next: this.records(topic, partition).length }
        }),
      clusterId: async () => 'memory',
      committed: async (groupId, topic) =>
        Array.from({ length: this.partitions }, (_, partition) => ({
          partition,
          offset: this.committed.get(`${groupId} ${topic}/${partition}`) ?? -1,
        })).filter(({ offset }) => offset >= 0),
      groupMembers: async (groupId) =>
        this.readers
          .filter(({ options, running }) => running && options.groupId === groupId)
          .map(({ options: { instance } }) => ({ memberId: instance, instance, userData: null, assigned: [] })),
      close: async () => {},
    }
  }
}

export class MemoryReader implements GroupReader {
  readonly options: GroupReaderOptions
  readonly #log: MemoryLog
  readonly #positions = new Map<string, number>()
  readonly #paused = new Set<string>()
  #assigned: TopicPartition[] = []
  #polling = false
  #generation = 0
  running = false
  /** Records handed over in all, those read twice counted twice. */
  delivered = 0
  /** Records in one batch. */
  batchMax = 1_000
  commitRefusal: Error | undefined

  constructor(log: MemoryLog, options: GroupReaderOptions) {
    this.#log = log
    this.options = options
  }

  async start(): Promise<void> {
    this.running = true
    this.assign(
      this.options.topics.flatMap((topic) =>
        Array.from({ length: this.#log.partitions }, (_, partition) => ({ topic, partition })),
      ),
    )
  }

  /** A rebalance: from now on this member reads these. `missed` generations passed without it. */
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

  /** The session ends for good. */
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

  async commit(positions: Position[]): Promise<void> {
    if (this.commitRefusal) throw this.commitRefusal
    for (const position of positions) this.#log.committed.set(`${this.options.groupId} ${placeOf(position)}`, position.offset)
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
      const all = this.#log.records(topic, partition)
      const records = all.slice(from, from + this.batchMax)
      const last = records.at(-1)
      if (last === undefined) continue
      this.#positions.delete(place)
      this.delivered += records.length
      const settled = this.options.onBatch({ topic, partition, records, highWatermark: all.length })
      if (settled !== undefined) await settled
      if (generation === this.#generation && !this.#positions.has(place)) this.#positions.set(place, last.offset + 1)
      more = true
    }
    this.#polling = false
    if (more || generation !== this.#generation) this.poll()
  }
}
