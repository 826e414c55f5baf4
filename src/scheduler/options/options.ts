/** Options of a scheduler. */
import type {
  DeadLetter,
  DeadLetterInput,
  EndedRun,
  EndedRunInput,
  Execution,
  ExecutionEvent,
  ExecutionInput,
  JobCommand,
  JobCommandInput,
  JobDefinition,
  StateEntry,
  StateEntryInput,
  WorkerControl,
  WorkerControlInput,
} from '../../../schemas/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Clock } from '../../ground/clock/index.ts'
import type { IdleTime } from '../../ground/concurrency/index.ts'
import type { Logger } from '../../ground/logging/index.ts'
import type { Metrics } from '../../ground/metrics/index.ts'
import type { Codec, Log, LogAdmin, PartitionStores, Pauses, StoreSearches, TargetTopics } from '../../ground/ports/index.ts'
import type { PoolWorkers } from '../pools/index.ts'

export interface SchedulerCodecs {
  definition: Codec<JobDefinition, unknown>
  command: Codec<JobCommand, JobCommandInput>
  state: Codec<StateEntry, StateEntryInput>
  execution: Codec<Execution, ExecutionInput>
  event: Codec<ExecutionEvent, unknown>
  deadLetter: Codec<DeadLetter, DeadLetterInput>
  control: Codec<WorkerControl, WorkerControlInput>
  endedRun: Codec<EndedRun, EndedRunInput>
}

export interface SchedulerOptions {
  log: Log
  codecs: SchedulerCodecs
  names: TopicNames
  /** Prefix of the group and of the transactional ids. */
  prefix: string
  /** Partitions of every topic. */
  partitions: number
  /** name@host:pid:boot of this process. */
  instance: string
  /** Shown by describeGroups: how other processes reach the queries of this one. */
  userData: () => unknown
  stores: PartitionStores
  /** Searches through these stores. Default: the thread of the scheduler makes them. */
  searches?: StoreSearches
  clock: Clock
  metrics: Metrics
  logger: Logger
  /** Number of standbys of each partition, if there are enough members. Default: 0. */
  standbys?: number
  /** Version of the time zone rules of this process, such as 2026a. Default: unknown, which differs from every other. */
  zoneRules?: string
  /** ms before its due time at which a run is dispatched. */
  leadMs: number
  /** ms before its due time at which a run of a burst may be dispatched; at least leadMs. */
  leadMsMax: number
  /** ms between two commits of a partition while nothing is due. */
  lingerMs: number
  /** ms by which the next fetch waits after one that brought single definitions (ADR 0081). Default: 0, it never waits. */
  readPaceMs?: number
  /** Whether a record of each run that has ended is written to the topic `runs`. Default: yes. */
  recordsRuns?: boolean
  /** delete.retention.ms of jobs and job-state. */
  tombstoneRetentionMs: number
  /** Topics of users that jobs and receipts may go to. Default: none. */
  targets?: TargetTopics | undefined
  /**
   * Whether it does what no record and no job asks for: positions for tools, the search for transactions that stay open and for lost
   * timers. Default: yes. In virtual time, where nobody needs them, they would be most of the work.
   */
  idleTasks?: boolean
  /** Idle time for searches that can wait. Default: that of this thread. */
  spare?: Pick<IdleTime, 'rest'>
  /** Which pools are paused. Owned by the caller. Default: none. */
  pauses?: Pauses | undefined
  /** Called when a partition fails in a way that a retry does not mend; the process should end. */
  onFatal: (error: Error) => void
}

/** Options and state that the partitions of one scheduler share. */
export interface Shared extends SchedulerOptions {
  admin: LogAdmin
  clusterId: string
  /** Which worker has which handler. Default: unknown, so runs go to any worker. */
  poolWorkers?: PoolWorkers
}
