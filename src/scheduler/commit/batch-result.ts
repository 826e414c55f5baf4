/** What a fold is given of its partition, and what it brings. */
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
  /** As Context in streams/state/job.ts says. */
  eventsReadUntil: number
  /** Timers that may still wait in memory for reports; further ones are written to the store again. */
  awaitingMax: number
  aheadFrom: number
  /** Whether the first mail has waited for a turn that has room for it. */
  inputRecordsFirst: boolean
  /** What stands in jobs before this offset an owner has folded, and logged what followed; of it only the definition is restored. */
  decidedBefore: number
  /** Whether the store has just the timers and index keys of its jobs, so that those of a restored definition's predecessor go. */
  isExact: boolean
  /** Whether next times that were logged may stand by other time zone rules than those in force. */
  zonesMayDiffer: boolean
  targets: TargetTopics | undefined
  metrics: Metrics
  logger: Logger
}

export interface BatchResult {
  effects: Effects
  /** Timers that were not acted on, and when to look at them again. */
  deferred: { timer: Timer; untilMs: number }[]
  /** Timers that judge only after reports that were durable by `untilMs`. */
  awaiting: { timer: Timer; untilMs: number }[]
  /** Mail of the batch that was folded. */
  inputRecordApplied: number
  /** The next mail needs a claim first. */
  blocked: boolean
  /** Timers of the batch that were folded or deferred. */
  timersApplied: number
  /** What was folded, each by its name. */
  names: string[]
  /** Runs that waited for a slot and were asked. */
  waitersAsked: number
  notes: Note[]
  dispatched: { pool: string; dueAt: number }[]
  /** Records to topics of the user's. */
  written: { topic: string; scheduledFor: number }[]
  receipts: Receipt['outcome'][]
  /** How late each handler was started whose start was reported, in ms. */
  startedLateMs: number[]
  /** Failed attempts that are made again. */
  retries: number
  /** Latest due time that went to an ahead lane; 0 when none did. */
  aheadUntil: number
}

/** Said with each look at the job: a timer looks again after a while, others when somebody asks something of it. */
export function tellUnreadable({ partition, logger, metrics }: BatchContext, { id, unreadable }: Job, { kind }: Input): void {
  metrics.invalid.inc({ reason: 'unreadable-state' })
  logger.error(
    { partition, jobId: id, input: kind },
    `What was decided about a job cannot be read; it is INVALID until it is defined anew or deleted: ${unreadable}`,
  )
}
