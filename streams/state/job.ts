/**
 * The words of the decision core: what is known of a job, what can happen to it, and what was decided.
 * Everything here is a value; nothing reads a clock, a disk or a socket.
 */
import type {
  DeadLetter,
  Execution,
  ExecutionEvent,
  FinishedRun,
  JobCommand,
  JobDefinition,
  JobState,
  TopicTarget,
} from '../../schemas/index.ts'
import type { retryTiers } from '../topics/index.ts'
import type { OnlyOver } from './condition.ts'
import type { Timer, Waiter } from './keys.ts'
import type { SlotUse } from './slots.ts'
import type { Starts } from './starts.ts'

/** A definition with its place in the log. `spec` is absent when the record cannot be used; then `problem` says why. */
export interface KnownDefinition {
  offset: number
  appendedAt: number
  /** The record's value as it was written. */
  bytes: Buffer
  spec?: JobDefinition
  problem?: string
}

export interface Job {
  id: string
  definition?: KnownDefinition | undefined
  state?: JobState | undefined
  /** Executions of active runs whose `snapshot` is true, by run number. */
  snapshots?: Map<number, Execution>
  /** Why what was decided about it cannot be read; then `state` only says that it is INVALID (streams/jobs/unreadable.ts). */
  unreadable?: string | undefined
  /** Runs whose execution is kept and cannot be read, and why. */
  unreadableRuns?: Map<number, string>
}

export type Input =
  /**
   * `decided`: an owner has taken it into account already and logged what followed; only the definition itself is restored.
   * `onlyOver`: it counts only over this definition.
   */
  | { kind: 'definition'; definition: KnownDefinition; decided?: boolean; onlyOver?: OnlyOver }
  /**
   * A null value in jobs. `observedOffset`: only if nothing newer than that was defined, nor dropped, and only while the job is due for
   * deletion; with `observedDeleteAt` at just that time. Owners write those, also one that has lost the partition and does not know it
   * yet. The others: as above.
   */
  | {
      kind: 'deletion'
      offset: number
      observedOffset?: number
      observedDeleteAt?: number
      decided?: boolean
      onlyOver?: OnlyOver
    }
  | { kind: 'command'; command: JobCommand }
  /** `note`: what of the report is missing. */
  | { kind: 'event'; event: ExecutionEvent; note?: string }
  | { kind: 'timer'; timer: Timer }
  /** The run is at the head of the queue of its concurrencyKey, and a slot may be free. */
  | { kind: 'admit'; waiter: Waiter }

/** What tells an attempt of a job from all others, also from those of an earlier job of the same id. */
export interface AttemptId {
  runNo: number
  attempt: number
  specOffset: number
}

export interface Context {
  /** The owner's clock, epoch ms. */
  now: number
  /** A run due in at most so many ms is dispatched to the usual lane, one due later to the `ahead` lane. */
  leadMs: number
  /** Only what is due then or later may go to an `ahead` lane, which is read in offset order: epoch ms. */
  aheadFrom: number
  /** Why a record can not be written to a topic of the user's now, or undefined when it can. Its answer is only used in what is logged. */
  topicProblem: (place: TopicTarget, bytes: number) => string | undefined
  /** Why nothing can be dispatched to a pool now, or undefined when it can. As above. */
  poolProblem: (pool: string) => string | undefined
  /** How long the topics of a pool keep what is dispatched, in ms; Infinity for ever. As above. Default: for ever. */
  keptMs?: (pool: string) => number
  limits: Limits
  /**
   * The owner's clock, epoch ms: what was durable in execution-events by then is part of the job. A timer that would end an attempt for
   * want of a report decides nothing before this has passed the time that it judges.
   */
  eventsReadUntil: number
  /** When a running attempt was last known to be alive, epoch ms; 0 when it was never heard of. */
  seenAt: (jobId: string, attempt: AttemptId) => number
  /** Whether next times of the partition may stand by other time zone rules than those in force. Default: no. */
  zonesMayDiffer?: boolean
}

/** What the jobs of the partition together have taken of limits that they share, as it was before the step. */
export interface Limits {
  /** Runs that hold a slot of a concurrencyKey, and runs that wait for one; this job's are among them. */
  slots(key: string): SlotUse
  /** Starts that were given under the key of a rateLimit; undefined when there were none, or only old ones. */
  starts(key: string): Starts | undefined
}

/** What goes to a topic of the user's, in the transaction that records it. */
export interface TopicRecord {
  topic: string
  /** Null: the partition follows from the key. */
  partition: number | null
  key: Buffer | string
  value: Buffer | null
  headers: Record<string, Buffer | string>
}

export type Output =
  | { kind: 'dispatch'; execution: Execution; ahead: boolean }
  /** A pinned attempt that was dispatched once more, for a worker that may not have been there. */
  | { kind: 'tell'; execution: Execution }
  /** A record to a topic of the user's: the whole run. */
  | { kind: 'record'; record: TopicRecord; scheduledFor: number }
  | { kind: 'retry'; tier: (typeof retryTiers)[number]; execution: Execution }
  /** Tells every worker that the attempt shall not run, or not go on. */
  | { kind: 'cancel'; runNo: number; attempt: number; specOffset: number; reason: string }
  /** Triggers another job. */
  | { kind: 'trigger'; jobId: string; commandId: string; at: number; chainDepth: number; chainLeft: number }
  | { kind: 'dead-letter'; letter: Omit<DeadLetter, 'execution'>; execution: Execution }
  /**
   * A null record to jobs that deletes the job unless it was defined anew after `observedOffset`, or is no longer to be deleted at
   * `observedDeleteAt`. It is written before the commit and
   * outside the transaction; the owner then reads it like anybody's, so that definitions keep one order and jobs has no control records.
   */
  | { kind: 'tombstone'; observedOffset: number; observedDeleteAt?: number }

/** Things worth counting that leave no other trace. */
export type Note =
  | { kind: 'skipped'; reason: SkipReason; count: number }
  | { kind: 'stale'; what: string }
  | { kind: 'ended'; status: FinishedRun['status'] }
  | { kind: 'lease-lost' }
  /** The next occurrence stands elsewhere by new rules of its time zone. */
  | { kind: 'moved' }
  | { kind: 'waiting'; reason: WaitingReason }
  | { kind: 'invalid'; reason: string }
  /** Commands that were not carried out, or jobs that were not triggered; `what`: type of the command, FOLLOW_UP for those of a chain. */
  | { kind: 'refused'; what: string; reason: string; count: number }
  /** Something was left out of the state, which would have been too large. */
  | { kind: 'shortened' }

export type WaitingReason = 'concurrency-limit' | 'rate-limit'

export type SkipReason = 'catch-up' | 'overlap' | 'max-concurrent-runs' | 'expired' | 'replaced' | 'zone-rules'

export interface Decision {
  /** The job afterwards. The same `state` object as before means that nothing was decided that must be logged. */
  job: Job
  /** The state that it was made from. */
  before: JobState | undefined
  out: Output[]
  /** Finished runs that move into the ring. */
  ring: FinishedRun[]
  /** True deletes the whole ring. */
  dropRing: boolean
  snapshotPuts: Execution[]
  snapshotDeletes: number[]
  /** A definition that jobs may lose to compaction and the changelog has to hold; null: it need not any more. */
  keptDefinition: KnownDefinition | null | undefined
  /** Why the command at hand was not carried out: a reason of streams/jobs/why.ts. */
  refusal: string | undefined
  /** Runs that are over with this step: those whose target is a topic are written at its end, those not tracked are ended. */
  deliveries: number[]
  /** Starts that were given, by the key of the rateLimit. */
  starts: Map<string, Starts>
  /** Slots that each concurrencyKey has, as they were found when one was asked for. */
  slotLimits: Map<string, number>
  /** What became of the run that was to be admitted; gone: it does not wait there any more. */
  admission: 'admitted' | 'refused' | 'gone' | undefined
  /** Timers besides those that follow from the state. */
  extraTimers: Timer[]
  /** The timer was not acted on; look at it again at this time. */
  deferUntil: number | undefined
  /** The timer was not acted on; it may be once all reports that were durable by this time are part of the job. */
  awaitsEventsUntil: number | undefined
  notes: Note[]
  /** A rule threw, or what it decided cannot be logged: the job is INVALID, and nothing else was decided. */
  failed: boolean
}

/** Whether a decision changes anything that the records of jobs do not say by themselves. */
export function mustBeLogged(before: Job, decision: Decision): boolean {
  return (
    decision.job.state !== before.state ||
    decision.out.some((output) => output.kind !== 'tombstone') ||
    decision.ring.length > 0 ||
    decision.dropRing ||
    decision.snapshotPuts.length > 0 ||
    decision.snapshotDeletes.length > 0
  )
}
