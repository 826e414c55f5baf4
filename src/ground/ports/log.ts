/**
 * Port to the log for the doers (scheduler, executor, retrier, api, client). They know only these interfaces. src/log/kafka implements them
 * over kafkajs, tests implement them in memory, and src/program/system/system.ts connects the two.
 */

/** A record as read. `offset` and `timestampMs` are exact: both stay below 2^53. */
export interface RecordIn {
  topic: string
  partition: number
  offset: number
  /** The broker's append time on LogAppendTime topics, else the producer's clock. */
  timestampMs: number
  /** Whether this is the broker's append time. Absent: no, or unknown. */
  byBroker?: boolean
  key: Buffer | null
  value: Buffer | null
  headers: Record<string, Buffer>
}

/** A record to write. Without `partition` the key chooses (streams/topics/topics.ts). */
export interface RecordOut {
  topic: string
  partition?: number
  /** True: the key is a job's id, whose tag may choose the partition. Else the murmur2 hash of the whole key does, as anywhere in Kafka. */
  ofJob?: boolean
  key: Buffer | string | null
  value: Buffer | null
  headers?: Record<string, Buffer | string>
}

/** The next offset to read. */
export interface Position extends TopicPartition {
  offset: number
  /** What its group keeps with it when it is committed, at most 4,096 bytes by Kafka's default. Default: nothing. */
  metadata?: string | undefined
}

/** An offset that a group has committed. */
export interface CommittedOffset {
  partition: number
  offset: number
  /** Absent: none was committed with it. */
  metadata?: string | undefined
}

/** Writes idempotently with acks=all; one call is one batch for each partition. Rejects when the broker refused it. */
export interface LogWriter {
  /** Resolves with the offset of the first record of each topic-partition, keyed `topic/partition`. */
  write(records: RecordOut[]): Promise<Map<string, number>>
  close(): Promise<void>
}

/** Offsets of a consumer group that a transaction commits with its records. They do not fence; the transactional id does. */
export interface GroupPositions {
  groupId: string
  positions: Position[]
}

/**
 * Writes whole transactions under one transactional id.
 * After any rejection the writer cannot be used and the outcome is unknown: close it and open a new one (invariant I6).
 * Rejects with code `fenced` if a later writer has taken the id.
 */
export interface TransactionalWriter {
  /** Commits all records or none. Resolves with the offset of the first record of each topic-partition, keyed `topic/partition`. */
  commit(records: RecordOut[], group?: GroupPositions): Promise<Map<string, number>>
  close(): Promise<void>
}

/** Steps before a transactional writer fences earlier writers. Until then these continue to write. */
export interface FenceOptions {
  /** Called once the writer is connected, and again before a temporarily refused fence is repeated. The writer fences when it resolves, and rejects with its error. Default: it fences at once. */
  mayFence?: () => Promise<unknown>
  /** The partition of the first write, to connect to its broker beforehand. Default: none. */
  first?: TopicPartition
}

export interface Batch extends TopicPartition {
  records: RecordIn[]
  /** Next offset the broker will give, as known when the batch was fetched; it counts uncommitted and control records too. */
  highWatermark: number
  /** Everything before this offset was fetched, also invisible records after the last record. Default: after the last record. */
  next?: number
}

export interface GroupReaderOptions {
  groupId: string
  topics: string[]
  /** name@host:pid:boot; carried in the member's metadata. */
  instance: string
  /** Opaque data for describeGroups that JSON can hold, such as the URL of this process. Read again at each join. */
  userData?: () => unknown
  /** `co-partitioned`: one member has partition i of every topic, and keeps it where it can. `open`: by `range` while another program's member is there. Default: round robin. */
  assignment?: 'co-partitioned' | 'open' | 'round-robin'
  /** Co-partitioned members that read some topics of a partition besides its owner, which reads all. Default: there are none. */
  standbys?: StandbyOptions
  /** Called at each join. True: this member is about to leave. If others stay, a co-partitioned group assigns it nothing more. Default: it stays. */
  isLeaving?(): boolean
  /** First position of a partition without a committed or returned one. Default: 'earliest'. */
  startAt?: 'earliest' | 'latest'
  /** Default true. False also shows records of open and aborted transactions. */
  readCommitted?: boolean
  /**
   * Called synchronously at each join of the group, before the first fetch, with all partitions that this member now reads. The returned
   * positions are sought, and the `paused` ones paused, before anything is fetched. All others start at the group's committed offset.
   * `generation` grows by one with each join, and by more if the membership had lapsed before it. Then others may have read the
   * partitions of this member.
   */
  onAssigned(assigned: TopicPartition[], generation: number): { positions?: Position[]; paused?: TopicPartition[] } | undefined
  /** The group is about to reassign its partitions. Until then finished work can still be committed. */
  onRebalance?(): void
  /**
   * For `open`. A join took these partitions, and nobody gets them before the promise has settled and this member has joined again.
   * Until then their positions can be committed. Called before the `onAssigned` of that join. It must not reject, and it must end
   * within the caller's time limit. Default: another member reads them at once.
   */
  onRevoked?(revoked: TopicPartition[]): Promise<void>
  /** Everything before the offset was read, also if it was only markers of transactions, which are not in a batch. Called after the batch has settled, and not for records that were fetched before the last seek. */
  onPassed?(position: Position): void
  /** Records in offset order for each partition; the next batch of any partition of this reader is fetched after it settles. It must not throw. */
  onBatch(batch: Batch): void | Promise<void>
  /** The group session ended against our will and the reader could not recover by itself; it has stopped. */
  onCrash(error: Error): void
}

/** A member of a consumer group. It never commits by itself. */
export interface GroupReader {
  start(): Promise<void>
  /** Takes effect before the next fetch; records already handed over stay handed over. */
  pause(partitions: TopicPartition[]): void
  resume(partitions: TopicPartition[]): void
  seek(position: Position): void
  /** Non-transactional group offsets, for redelivery after a restart and for lag tools. Rejects when they are not committed, also with `not-ready` while the reader is in no group. Positions of partitions that are neither assigned nor being revoked are left out. */
  commit(positions: Position[]): Promise<void>
  /** Resolves at the first successful heartbeat sent after the call. */
  nextHeartbeat(): Promise<void>
  /** Joins again as the same member, so that the group gets its present user data. Resolves after onAssigned. Rejects with `not-ready` if the reader stops first. */
  rejoin(): Promise<void>
  /** Whether a heartbeat that was sent within the session timeout, by the steady clock, was answered. False: others may have its partitions. */
  readonly isMember: boolean
  /** Leaves the group. Safe to call twice. */
  stop(): Promise<void>
}

/** The port to the log. */
export interface Log {
  writer(): Promise<LogWriter>
  transactionalWriter(transactionalId: string, fence?: FenceOptions): Promise<TransactionalWriter>
  reader(options: GroupReaderOptions): GroupReader
  admin(): Promise<LogAdmin>
}

/** Turns values into bytes in the Confluent wire format and back. Schemas are registered before a codec is handed out. */
export interface Codec<Value, Input = Value> {
  /** Throws DuelogError `encode-failed` naming the wrong fields. */
  encode(value: Input): Buffer
  /**
   * A value if the writer's schema is known, else a promise while the schema is fetched from the registry.
   * Throws or rejects with DuelogError `undecodable` for bytes that are broken, not of the wire format, or of an unknown schema id.
   * It fails with `registry-unavailable` if the registry cannot be reached. Then the same bytes may be decodable later.
   */
  decode(bytes: Buffer): Value | Promise<Value>
}

/** A partition of a topic. */
export interface TopicPartition {
  topic: string
  partition: number
}

/** A member of a consumer group, with its decoded user data and assignment. */
export interface GroupMember {
  memberId: string
  instance: string
  userData: unknown
  assigned: TopicPartition[]
  /** True: the group is assigning its partitions, and until then it does not show what the member announces. */
  isJoining?: boolean
}

/** The records of a partition: the first one that is kept, and the next one that is written. */
export interface OffsetRange {
  partition: number
  earliest: number
  next: number
}

/** Offsets and metadata from the brokers. */
export interface LogAdmin {
  /** Earliest and next offset of each partition. Records after an open transaction do not count, because readers cannot reach them. */
  offsets(topic: string): Promise<OffsetRange[]>
  /** The same of many topics, with few requests. Topics that do not exist are absent. */
  offsetsOf(topics: readonly string[]): Promise<Map<string, OffsetRange[]>>
  /** End of each partition, with the records after an open transaction. Absent: not available. */
  highWatermarks?(topic: string): Promise<Map<number, number>>
  clusterId(): Promise<string>
  /** Committed offset of the group for each partition of the topic. Partitions without a commit are absent. */
  committed(groupId: string, topic: string): Promise<CommittedOffset[]>
  /** The same for several topics, with one request. No topics: all that the group has committed and this principal may describe. */
  committedOf(groupId: string, topics: readonly string[]): Promise<Map<string, CommittedOffset[]>>
  /** Members of a group. */
  groupMembers(groupId: string): Promise<GroupMember[]>
  /** Ids of the consumer groups with this prefix. */
  groups(prefix: string): Promise<string[]>
  close(): Promise<void>
}

export interface StandbyOptions {
  /** Wanted standbys of each partition, limited by the number of members. The highest number of any member counts. */
  wanted: number
  /** Topics that standbys read. */
  topics: string[]
  /** Partitions that this member has locally, with offsets. The member with the highest offset is preferred as next owner. Called at each join. */
  copies: () => [partition: number, offset: number][]
  warmth: WarmthOptions
}

/**
 * Warm handover. A member that is to own a partition of another owner, or to replace another standby, first follows it additionally, until
 * it joins again and reports that it is warm there.
 */
export interface WarmthOptions {
  /**
   * The group assigns it in addition to `topics` if the member is to become warm. Nobody reads it for that. An owner reads
   * another topic in addition.
   */
  topic: string
  /** Partitions that it fires, or could fire at once. Called at each join. */
  warm: () => number[]
}

/** Topics of users that may be written to in a partition's transaction. */
export interface TargetTopics {
  /** Why a record of this size cannot be written there now, or undefined. */
  problem(place: { name: string; partition: number | null }, bytes: number): string | undefined
  /**
   * Looks up a topic again that was missing. Undefined if there is nothing to wait for: the topic exists, it is not allowed, or the last
   * lookup was a moment ago. It never rejects.
   */
  seek(topic: string): Promise<void> | undefined
  /** Why nothing can be dispatched to the pool now: its topics are missing. Undefined if they exist. */
  poolProblem(pool: string): string | undefined
  /** Retention of the topics of the pool in ms, by the last lookup. Infinity: for ever, or unknown. Absent: for ever. */
  keptMs?(pool: string): number
  /** Like `seek`, for the topics of a pool. */
  seekPool(pool: string): Promise<void> | undefined
  /** How often a topic or a pool that was missing for some job was found. Absent: nothing is looked for. */
  readonly appeared?: number
  /** The listener is called when `appeared` has grown. The result ends that. */
  onAppeared?(listener: () => void): () => void
  /** A transaction with records for these topics failed. Resolves when it is known again which topics can be written to. */
  failed(topics: Iterable<string>, error: unknown): Promise<void>
}

/** Reads a part of one partition by time, without a consumer group. */
export interface RangeReader {
  /**
   * Offset of the first record appended at or after `fromMs`, and of the first one at or after `toMs`; both are the end of the partition
   * if there is none. `toMs` undefined: the end. Times are the brokers' where the topic has append times.
   */
  range(place: TopicPartition, fromMs: number, toMs: number | undefined): Promise<{ from: number; to: number }>
  /**
   * Records from the position on, at most about `bytesMax`, but at least one where there is one. `next`: where to continue; it is the
   * position itself at the end. Records that expired meanwhile are skipped. Records of open transactions are included.
   */
  read(position: Position, bytesMax: number): Promise<{ records: RecordIn[]; next: number }>
  close(): Promise<void>
}
