/**
 * The types of the decision core: a job, its inputs, and decisions; and the identity of a run.
 * Everything here is a value; nothing reads a clock, a disk or a socket.
 */
import type {
  ActiveRun,
  Cause,
  DeadLetter,
  EndedRun,
  Execution,
  ExecutionEvent,
  FinishedRun,
  FollowUp,
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

/** A definition with its offset in the log. `spec` is absent if the record is invalid; then `problem` says why. */
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
  /** Loaded pages of the waiting follow-ups, by their numbers: the first and the last one. An unreadable page is empty. */
  followUpPages?: Map<number, readonly FollowUp[]>
  /** Why its logged state cannot be read; then `state` only says that it is INVALID (streams/jobs/unreadable.ts). */
  unreadable?: string | undefined
  /** Runs with an unreadable snapshot, and why it is unreadable. */
  unreadableRuns?: Map<number, string>
}

export type Input =
  /**
   * `decided`: an owner has already processed it and logged its effects; only the definition itself is restored.
   * `onlyOver`: it counts only over this definition.
   */
  | { kind: 'definition'; definition: KnownDefinition; decided?: boolean; onlyOver?: OnlyOver }
  /**
   * A null value in jobs. `observedOffset`: it counts only if no newer definition was accepted or dropped, and only while the job is to
   * be deleted; with `observedDeleteAt` at exactly that time. Only owners write these two, also an owner that has lost the partition and
   * does not know it yet. The other fields: as above.
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
  /** `note`: which part of the report is missing. */
  | { kind: 'event'; event: ExecutionEvent; note?: string }
  | { kind: 'timer'; timer: Timer }
  /** The run is the first in the queue of its concurrencyKey, and a slot may be free. */
  | { kind: 'admit'; waiter: Waiter }

/** Identity of an attempt of a job. It also differs from attempts of an earlier job with the same id. */
export interface AttemptId {
  runNo: number
  attempt: number
  specOffset: number
}

/** Where a run goes: to any worker of its pool, to one of these, or to none, because no worker of the pool has its handler. */
export type Route = 'any' | 'none' | { workers: readonly string[] }

/** That a pool is paused or drained: nothing is dispatched to it. */
export interface PoolPause {
  /** Epoch ms, by the clock of an API process. */
  at: number
  /** Whether its workers still start what was dispatched before. */
  isDrained: boolean
}

export interface Context {
  /** The owner's clock, epoch ms. */
  now: number
  /** A run that is due within this time is dispatched to the usual topic, a later one to the ahead topic. */
  leadMs: number
  /** Only runs that are due at this time or later may go to an ahead topic, because it is read in offset order. Epoch ms. */
  aheadFrom: number
  /** Why a record cannot be written to a target topic now, or undefined. The answer is used only in logged decisions. */
  topicProblem: (place: TopicTarget, bytes: number) => string | undefined
  /** Why nothing can be dispatched to a pool now, or undefined. Used as above. */
  poolProblem: (pool: string) => string | undefined
  /** Retention of the topics of a pool in ms; Infinity: for ever. Used as above. Default: for ever. */
  keptMs?: (pool: string) => number
  /**
   * Where a run with this handler goes, by the members of the pool's group. `except`: a worker that has just given the run back, or
   * failed it by its silence. The answer is used only in logged decisions. Default: to any worker.
   */
  routeTo?: (pool: string, handler: string, except: string | null) => Route
  /** Since when a worker is no member of its pool, epoch ms by the owner's clock, not before `sinceMs`. Undefined: it is one, or that is unknown. Used as above. */
  goneAt?: (pool: string, worker: string, sinceMs: number) => number | undefined
  /**
   * Since when the workers of this name or on this host are in a pool as they are now, epoch ms by the owner's clock. Null: there is none.
   * Undefined: that is unknown. Used as above.
   */
  namedSince?: (pool: string, pinTo: string) => number | null | undefined
  /** Whether the pool is paused now. Used as above. Default: it is not. */
  pauseOf?: (pool: string) => PoolPause | undefined
  limits: Limits
  /**
   * Epoch ms by the owner's clock: reports that were durable in execution-events by then are part of the job. A timer that would end an
   * attempt because of a missing report decides nothing before this time has passed the time that it judges.
   */
  eventsReadUntil: number
  /** When a running attempt was last known to be alive, epoch ms; 0: never. */
  seenAt: (jobId: string, attempt: AttemptId) => number
  /** Whether the partition has room for further dead runs of a job that has ten. Used as above. Default: it has. */
  mayKeepDead?: boolean
  /** Whether next times of the partition may be based on other time zone rules than those of this process. Default: no. */
  zonesMayDiffer?: boolean
}

/** Use of shared limits by all jobs of the partition, before the step. */
export interface Limits {
  /** Runs that hold a slot of a concurrencyKey, and runs that wait for one; this job's are among them. */
  slots(key: string): SlotUse
  /** Starts that were given under the key of a rateLimit; undefined if there are none, or only outdated ones. */
  starts(key: string): Starts | undefined
}

/** A record for a target topic, written in the transaction of its decision. */
export interface TopicRecord {
  topic: string
  /** Null: the partition follows from the key. */
  partition: number | null
  key: Buffer | string
  value: Buffer | null
  headers: Record<string, Buffer | string>
}

export type Output =
  /** `to`: the one worker that it is sent to, as `instance` of a WorkerControl. Null: a topic of the pool. */
  | { kind: 'dispatch'; execution: Execution; ahead: boolean; to: string | null }
  /** An attempt that was sent to one worker and is sent once more, because the worker may not have been there. */
  | { kind: 'redeliver'; execution: Execution; to: string }
  /** A record to a topic of the user's: the whole run. */
  | { kind: 'record'; record: TopicRecord; scheduledFor: number }
  | { kind: 'retry'; tier: (typeof retryTiers)[number]; execution: Execution }
  /** Announces to every worker that the attempt must not run, or must stop. */
  | { kind: 'cancel'; runNo: number; attempt: number; specOffset: number; reason: string }
  /** Triggers another job. */
  | { kind: 'trigger'; jobId: string; commandId: string; at: number; chainDepth: number; chainLeft: number; cause: Cause }
  | { kind: 'dead-letter'; letter: Omit<DeadLetter, 'execution'>; execution: Execution }
  /**
   * A null record to jobs that deletes the job unless it was defined again after `observedOffset`, or is no longer to be deleted at
   * `observedDeleteAt`. It is written before the commit and outside of the transaction. The owner then reads it like any other record, so
   * that definitions keep one order and jobs has no control records.
   */
  | { kind: 'tombstone'; observedOffset: number; observedDeleteAt?: number }

/** Facts for metrics that are recorded nowhere else. */
export type Note =
  | { kind: 'skipped'; reason: SkipReason; count: number }
  | { kind: 'stale'; what: string }
  | { kind: 'ended'; status: FinishedRun['status'] }
  | { kind: 'lease-lost' }
  /** The next occurrence has moved by new rules of its time zone. */
  | { kind: 'moved' }
  | { kind: 'waiting'; reason: WaitingReason }
  | { kind: 'invalid'; reason: string }
  /** Commands that were not carried out, or jobs that were not triggered; `what`: type of the command, FOLLOW_UP for those of a chain. */
  | { kind: 'refused'; what: string; reason: string; count: number }
  /** A part of the state was dropped because it would have been too large. */
  | { kind: 'shortened' }

export type WaitingReason = 'concurrency-limit' | 'rate-limit' | 'handler-missing' | 'pool-paused'

export type SkipReason = 'catch-up' | 'overlap' | 'max-concurrent-runs' | 'expired' | 'replaced' | 'zone-rules' | 'command'

export interface Decision {
  /** The job after the decision. The same `state` object as before means that nothing must be logged. */
  job: Job
  /** The state before the decision. */
  before: JobState | undefined
  out: Output[]
  /** Ended runs that move into the run history. */
  historyPuts: FinishedRun[]
  /** Runs that this decision ends: their records for the topic `runs`. */
  endedRuns: EndedRun[]
  /** True deletes the whole run history. */
  deletesHistory: boolean
  snapshotPuts: Execution[]
  /** Ends of dead runs, which are stored with their snapshots. */
  deadEnds: FinishedRun[]
  snapshotDeletes: number[]
  /** Changed pages of the follow-ups that wait, by their numbers; null: deleted. */
  followUpPages: ReadonlyMap<number, readonly FollowUp[] | null>
  /** A definition that the changelog must keep because compaction may remove it from jobs; null: no longer needed. */
  keptDefinition: KnownDefinition | null | undefined
  /** Why the command was refused: a reason of streams/jobs/reasons.ts. */
  refusal: string | undefined
  /** Runs that end with this step: their target is a topic, and their record is written at their end. */
  endingRuns: number[]
  /** Starts that were given, by the key of the rateLimit. */
  starts: ReadonlyMap<string, Starts>
  /** Limit of each concurrencyKey that was checked. */
  slotLimits: ReadonlyMap<string, number>
  /** Result for the run that was to be admitted. `gone`: the run has left the queue. */
  admission: 'admitted' | 'refused' | 'gone' | undefined
  /** Timers besides those that follow from the state. */
  extraTimers: Timer[]
  /** The timer was not applied and is due again at this time. */
  deferUntil: number | undefined
  /** The timer was not applied. It may be applied once all reports that were durable by this time are part of the job. */
  awaitsEventsUntil: number | undefined
  notes: Note[]
  /** A rule threw, or its decision cannot be logged: the job is INVALID, and nothing else was decided. */
  failed: boolean
}

/** Whether a decision changes anything that does not follow from the records of jobs. */
export function mustBeLogged(before: Job, decision: Decision): boolean {
  return (
    decision.job.state !== before.state ||
    decision.out.some((output) => output.kind !== 'tombstone') ||
    decision.historyPuts.length > 0 ||
    decision.deletesHistory ||
    decision.snapshotPuts.length > 0 ||
    decision.snapshotDeletes.length > 0 ||
    decision.followUpPages.size > 0 ||
    decision.keptDefinition !== undefined
  )
}

/**
 * Identity of a run: the same for each of its attempts, and different from every other run of any job.
 *
 * Run numbers start again at 1 when a job is deleted and defined again, so the identity includes the life of the job. A job id may
 * contain any printable character. After the last slash there are digits, `@` and the life. So no two runs have the same identity.
 */

/** Name of the life that begins with this definition. The append time distinguishes equal offsets of a topic that was recreated. */
export const lifeOf = (definition: Pick<KnownDefinition, 'offset' | 'appendedAt'> | undefined): string =>
  definition === undefined ? '' : `${definition.offset}-${Math.max(0, definition.appendedAt).toString(36)}`

/** The run's number and life: the identity without the job's id. */
export const runNameOf = ({ runNo, life }: Pick<Execution, 'runNo' | 'life'>): string => `${runNo}@${life}`

/** The identity of a run, for handlers and receivers: `jobId/runNo@life`. */
export const executionIdOf = (execution: Pick<Execution, 'jobId' | 'runNo' | 'life'>): string =>
  `${execution.jobId}/${runNameOf(execution)}`

/** Whether a report counts: it must be of the attempt that the run has in its state. A waiting run was not dispatched, so no worker can report it. A retry waits for the report of the retrier, and for no other. */
export const isCurrentReport = (run: ActiveRun, event: ExecutionEvent): boolean =>
  run.runNo === event.runNo &&
  run.attempt === event.attempt &&
  run.specOffset === event.specOffset &&
  run.status !== 'WAITING' &&
  (run.status === 'RETRY_WAIT') === (event.type === 'RETRY_DUE')
