/**
 * What the doers (scheduler, executor, retrier, api, client) need of a log. They know only these interfaces;
 * src/kafka implements them over kafkajs, tests implement them in memory, and src/system/system.ts joins the two.
 */
import type { ActiveRun, DecidedTime, Execution, FinishedRun, JobDefinition, JobStatus } from '../../schemas/index.ts'
import type { Reason } from '../../streams/jobs/index.ts'
import type { LogAdmin, TopicPartition } from './log-admin.ts'
import type { DueCounts, DueRange, JobFilter, PartitionView, StoredJob, WorkerRuns } from './owner-views.ts'
import type { StandbyOptions } from './standby.ts'

export type { LogAdmin, TopicPartition } from './log-admin.ts'
export type { DueCounts, DueRange, JobFilter, PartitionView, RunsUnderWay, StoredJob, WorkerRuns } from './owner-views.ts'
export type { StandbyOptions } from './standby.ts'
export type { TargetTopics } from './target-topics.ts'

/** A record as read. `offset` and `timestampMs` are exact: both stay below 2^53. */
export interface RecordIn {
  topic: string
  partition: number
  offset: number
  /** The broker's append time on LogAppendTime topics, else the producer's clock. */
  timestampMs: number
  /** Whether that is the broker's append time. Absent: it is not, or it is not known. */
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
}

/** Writes idempotently with acks=all; one call is one batch for each partition. Rejects when the broker refused it. */
export interface LogWriter {
  /** Resolves with the offset of the first record of each topic-partition, keyed `topic/partition`. */
  write(records: RecordOut[]): Promise<Map<string, number>>
  close(): Promise<void>
}

/** Offsets of a consumer group that a transaction commits with its records. They fence nobody: the transactional id does. */
export interface GroupPositions {
  groupId: string
  positions: Position[]
}

/**
 * Writes whole transactions under one transactional id.
 * Any rejection means the writer is finished and the outcome unknown: close it and open a new one (invariant I6).
 * Rejects with code `fenced` when a later writer has taken the id.
 */
export interface TransactionalWriter {
  /** Commits all records or none. Resolves with the offset of the first record of each topic-partition, keyed `topic/partition`. */
  commit(records: RecordOut[], group?: GroupPositions): Promise<Map<string, number>>
  close(): Promise<void>
}

/** What goes on before a transactional writer fences those before it: until then they go on writing. */
export interface FenceOptions {
  /** Called once it is connected, and again before a fence is repeated that was refused for a moment. It fences when that resolves, and rejects with what that rejects with. Default: it fences at once. */
  mayFence?: () => Promise<unknown>
  /** What it writes to first: connected to beforehand. Default: nothing is. */
  first?: TopicPartition
}

export interface Batch extends TopicPartition {
  records: RecordIn[]
  /** Next offset the broker will give, as known when the batch was fetched; it counts uncommitted and control records too. */
  highWatermark: number
  /** Everything before it was fetched, also what stands behind the last record and is shown to nobody. Default: behind the last record. */
  next?: number
}

export interface GroupReaderOptions {
  groupId: string
  topics: string[]
  /** name@host:pid:boot; carried in the member's metadata. */
  instance: string
  /** Opaque JSON-able data shown to describeGroups, such as the URL of this process. Read anew at each join. */
  userData?: () => unknown
  /** `co-partitioned`: one member has partition i of every topic, and keeps it where it can. `open`: by `range` while another program's member is there. Default: round robin. */
  assignment?: 'co-partitioned' | 'open' | 'round-robin'
  /** Co-partitioned members that read some topics of a partition besides its owner, which reads all. Default: there are none. */
  standbys?: StandbyOptions
  /** Asked at each join. True: this member is about to leave; where others stay, a co-partitioned group gives it nothing more. Default: it stays. */
  isLeaving?(): boolean
  /** First position of a partition without a committed or returned one. Default: 'earliest'. */
  startAt?: 'earliest' | 'latest'
  /** Default true. False also shows records of open and aborted transactions. */
  readCommitted?: boolean
  /**
   * Called synchronously at each join of the group, before the first fetch, with all that this member now reads.
   * What it returns is sought (and `paused` paused) before anything is fetched; all else starts at the group's committed offset.
   * `generation` grows by one with each join, and by more when the membership had lapsed before it, so that others may have read what this member still has.
   */
  onAssigned(assigned: TopicPartition[], generation: number): { positions?: Position[]; paused?: TopicPartition[] } | undefined
  /** The group is about to give its partitions out anew; until it has, what is done can still be committed. */
  onRebalance?(): void
  /** Everything before the offset was read; also where only markers of transactions stood, which come as no batch. After the batch has settled; not for what was fetched before the last seek. */
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
  /** Non-transactional group offsets, for redelivery after a restart and for lag tools. Rejects when they are not committed, also with `not-ready` while the reader is in no group. */
  commit(positions: Position[]): Promise<void>
  /** Resolves at the first successful heartbeat sent after the call. */
  nextHeartbeat(): Promise<void>
  /** Joins anew as the same member, so that the group hears what it has to say now. Resolves after onAssigned; rejects with `not-ready` when the reader stops first. */
  rejoin(): Promise<void>
  /** Whether a heartbeat that was sent within the session timeout, by the steady clock, was answered. False: others may have its partitions. */
  readonly isMember: boolean
  /** Leaves the group. Safe to call twice. */
  stop(): Promise<void>
}

/** Everything a doer may ask of the log. */
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
   * A value at once where the writer's schema is known, else a promise while the registry is asked.
   * Throws or rejects with DuelogError `undecodable` for bytes that are not of the wire format, of an unknown schema id or broken,
   * and with `registry-unavailable` when the registry could not be asked: then the same bytes may decode later.
   */
  decode(bytes: Buffer): Value | Promise<Value>
}

/** What the worker of a running attempt last said of it. */
export interface Heartbeat {
  /** The owner's clock when it read the heartbeat, epoch ms. */
  checkedAt: number
  /** Share that is done, from 0 to 1. */
  progress: number | null
  message: string | null
}

/** An active run, with the last heartbeat of its current attempt. A new owner knows heartbeats only from its own time. */
export interface ActiveRunView extends ActiveRun {
  heartbeat: Heartbeat | null
}

/** A job as its owner sees it. */
export interface JobView {
  id: string
  /** Partition and offset of the definition in force; the API's ETag is `"<partition>.<offset>"`. */
  partition: number
  offset: number
  /** Absent while the job is INVALID because its bytes could not be decoded. */
  definition: JobDefinition | undefined
  status: JobStatus
  /** Nominal time of the next occurrence. */
  nextFireAt: number | null
  /** With jitter: when that is due; null where it is due at its nominal time. */
  nextDueAt: number | null
  /** Of a schedule in a time zone: from where its next time is computed. Absent of others, and from an earlier version of Duelog. */
  place?: { anchorAt: number; decidedFor: DecidedTime | null; latestFiredFor: number | null }
  runNo: number
  scheduledRuns: number
  succeeded: number
  failed: number
  skipped: number
  cancelled: number
  reason: string | null
  active: ActiveRunView[]
  lastRun: FinishedRun | null
  /** Dead runs that can be redriven. */
  deadRuns: number[]
}

export interface ListedJobs {
  jobs: JobView[]
  /** Where to go on; absent at the end. */
  next?: string
  /** Jobs that were passed, wanted or not. */
  looked: number
}

/** Why a job fired or did not. */
export interface WhyView {
  status: JobStatus
  /** What stands in its way now, then what was decided against, newest first. Never empty. */
  reasons: Reason[]
}

/** Who asks for what takes long: callers have their turn one after another, and nothing is done for who has gone. */
export interface Asker {
  /** A token, a subject or an address; the same text for the same caller. */
  caller: string
  /** Aborted when the answer is not wanted any more. Default: it always is. */
  signal?: AbortSignal | undefined
}

/** What can be read of jobs. Every call rejects with DuelogError `not-ready` where this process has no such store. */
export interface JobQueries {
  job(partition: number, id: string): Promise<JobView | undefined>
  /** Jobs in id order after `after`. It looks at no more than about 10,000 jobs a call, so a page may be short or empty while `next` is set. */
  list(partition: number, filter: JobFilter, limit: number, after?: string, asker?: Asker): Promise<ListedJobs>
  why(partition: number, id: string): Promise<WhyView | undefined>
  /** Active runs, then ended ones, newest first; at most the active ones and the last 11. */
  runs(partition: number, id: string): Promise<{ active: ActiveRunView[]; finished: FinishedRun[] } | undefined>
  /** What the last attempt of a dead run was given, as it is made again; undefined when the run cannot be redriven. */
  deadRun(partition: number, id: string, runNo: number): Promise<Execution | undefined>
}

/** What a partition's owner answers. Every call rejects with DuelogError `not-ready` where this process is not the active owner. */
export interface PartitionQueries extends JobQueries {
  /** The same of any store that this process has, a standby's or one that is being restored: what it says may be out of date. */
  readonly copies: JobQueries
  partitions(): PartitionView[]
  /** The job as it is stored; undefined when there is none. */
  stored(partition: number, id: string): Promise<StoredJob | undefined>
  /** What is due ahead. It looks at a bounded number of timers and definitions; the counts say how far they go. */
  forecast(partition: number, range: DueRange, asker?: Asker): Promise<DueCounts>
  /** Workers that it has heard from since it owns the partition, at most 1,000. */
  workers(partition: number): Promise<WorkerRuns[]>
  /**
   * Resolves true once the owner has applied these offsets (each: the record's own), false after `timeoutMs`. With none: once the turn that it
   * is in has ended, so that its store has whatever readers of the log may know of by now.
   */
  applied(partition: number, offsets: { jobs?: number; commands?: number }, timeoutMs: number): Promise<boolean>
}
