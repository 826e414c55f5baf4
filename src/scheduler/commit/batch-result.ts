/** The result of applying a batch. */
import type { Receipt } from '../../../streams/jobs/index.ts'
import type { Input, Job, Note, Timer } from '../../../streams/state/index.ts'
import type { AnnouncedChange } from './announced-changes.ts'
import type { Effects } from './batch-effects.ts'
import type { SliceOutcome } from './bulk-changes.ts'
import type { CommitContext } from './commit-context.ts'

export interface BatchResult {
  effects: Effects
  /** Timers that were deferred, and when to check them again. */
  deferred: { timer: Timer; untilMs: number }[]
  /** Timers that judge only after reports that were durable by `untilMs`. */
  awaiting: { timer: Timer; untilMs: number }[]
  /** Input records of the batch that were applied. */
  inputRecordsApplied: number
  /** The next input record needs a claim first. */
  blocked: boolean
  /** Timers of the batch that were applied or deferred. */
  timersHandled: number
  /** Names of the applied inputs. */
  names: string[]
  /** Waiting runs that were tried. */
  waitersTried: number
  /** Jobs of a change of many that were looked at, and what was done to them. */
  bulkLooked: number
  bulk: SliceOutcome
  /** Changes that reached a job ahead of their walk, once for each job. */
  ahead: { change: AnnouncedChange; jobId: string }[]
  notes: Note[]
  dispatched: { pool: string; dueAt: number }[]
  /** Records to topics of users. */
  topicRecords: { topic: string; scheduledFor: number }[]
  receipts: Receipt['outcome'][]
  /** Start lateness in ms of each handler whose start was reported. */
  startedLateMs: number[]
  /** Failed attempts that are retried. */
  retries: number
  /** Latest due time that was sent to an ahead topic; 0 if none was. */
  aheadUntil: number
}

/** Logged at each access to the job: a timer checks again after a while, other inputs when a caller asks for something. */
export function reportUnreadable({ partition, shared }: CommitContext, { id, unreadable }: Job, { kind }: Input): void {
  shared.metrics.invalid.inc({ reason: 'unreadable-state' })
  shared.logger.error(
    { event: 'state-unreadable', partition, jobId: id, input: kind },
    `The state of a job cannot be read; it is INVALID until it is defined again or deleted: ${unreadable}`,
  )
}
