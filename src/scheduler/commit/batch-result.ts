/** Input and result of applying a batch. */
import type { Logger } from 'pino'
import type { Receipt } from '../../../streams/jobs/index.ts'
import type { Input, Job, Note, Timer } from '../../../streams/state/index.ts'
import type { TopicNames } from '../../../streams/topics/index.ts'
import type { Metrics } from '../../metrics/index.ts'
import type { PartitionStore, TargetTopics } from '../../ports/index.ts'
import type { ActiveRuns, Leases, WorkerWatch } from '../activity/index.ts'
import type { AdmissionQueue } from '../limits/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import type { HeavyJobs } from '../state/index.ts'
import type { Effects } from './batch-effects.ts'
import type { FailureIsolation } from './failure-isolation.ts'

export interface BatchContext {
  partition: number
  partitions: number
  names: TopicNames
  codecs: SchedulerCodecs
  store: PartitionStore
  leases: Leases
  workers: WorkerWatch
  activeRuns: ActiveRuns
  admissionQueue: AdmissionQueue
  heavyJobs: HeavyJobs
  failureIsolation: FailureIsolation
  leadMs: number
  /** See Context in streams/state/job.ts. */
  eventsReadUntil: number
  /** Timers that may still wait in memory for reports; further ones are written to the store again. */
  awaitingMax: number
  aheadFrom: number
  /** Whether the first input record has waited for a cycle with room for it. */
  inputRecordsFirst: boolean
  /**
   * An owner has applied the definitions before this offset and logged their consequences; only the definition itself is
   * restored.
   */
  decidedBefore: number
  /**
   * Whether the store has exactly the timers and index keys of its jobs, so that those of a replaced definition must be
   * removed.
   */
  isExact: boolean
  /** Whether logged next times may come from other time zone rules than those in force. */
  zonesMayDiffer: boolean
  targets: TargetTopics | undefined
  metrics: Metrics
  logger: Logger
}

export interface BatchResult {
  effects: Effects
  /** Timers that were deferred, and when to check them again. */
  deferred: { timer: Timer; untilMs: number }[]
  /** Timers that judge only after reports that were durable by `untilMs`. */
  awaiting: { timer: Timer; untilMs: number }[]
  /** Input records of the batch that were applied. */
  inputRecordApplied: number
  /** The next input record needs a claim first. */
  blocked: boolean
  /** Timers of the batch that were applied or deferred. */
  timersApplied: number
  /** Names of the applied inputs. */
  names: string[]
  /** Waiting runs that were tried. */
  waitersAsked: number
  notes: Note[]
  dispatched: { pool: string; dueAt: number }[]
  /** Records to topics of users. */
  written: { topic: string; scheduledFor: number }[]
  receipts: Receipt['outcome'][]
  /** Start lateness in ms of each handler whose start was reported. */
  startedLateMs: number[]
  /** Failed attempts that are retried. */
  retries: number
  /** Latest due time that was sent to an ahead topic; 0 if none was. */
  aheadUntil: number
}

/** Logged at each access to the job: a timer checks again after a while, other inputs when a caller asks for something. */
export function tellUnreadable({ partition, logger, metrics }: BatchContext, { id, unreadable }: Job, { kind }: Input): void {
  metrics.invalid.inc({ reason: 'unreadable-state' })
  logger.error(
    { partition, jobId: id, input: kind },
    `What was decided about a job cannot be read; it is INVALID until it is defined anew or deleted: ${unreadable}`,
  )
}
