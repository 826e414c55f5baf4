/** The result of applying a batch, and what metrics count of it. */

import type { ActiveRun } from '../../../schemas/index.ts'
import type { Receipt } from '../../../streams/jobs/index.ts'
import type { Input, Job, Note, Timer } from '../../../streams/state/index.ts'
import type { Named } from '../input/index.ts'
import type { Shared } from '../options/index.ts'
import type { Effects } from './batch-effects.ts'
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
  /** The applied inputs. */
  names: Named[]
  /** Waiting runs that were tried. */
  waitersTried: number
  /** Jobs of hooks that were decided. */
  hookedJobs: number
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

/** Counts what a commit has sent, and how late it was. */
export function measureDispatches(
  { clock, metrics }: Shared,
  { dispatched, topicRecords, receipts, startedLateMs, retries }: BatchResult,
): void {
  const now = clock.nowMs()
  const byPool = new Map<string, number>()
  for (const { pool, dueAt } of dispatched) {
    byPool.set(pool, (byPool.get(pool) ?? 0) + 1)
    metrics.dueToCommit.observe((now - dueAt) / 1_000)
  }
  for (const [pool, runs] of byPool) metrics.dispatched.inc({ pool }, runs)
  for (const { topic, scheduledFor } of topicRecords) {
    metrics.targetRecords.inc({ topic })
    metrics.targetLateness.observe((now - scheduledFor) / 1_000)
  }
  for (const lateMs of startedLateMs) metrics.reportedLateness.observe(lateMs / 1_000)
  metrics.retries.inc(retries)
  for (const outcome of receipts) metrics.receipts.inc({ outcome })
}

/** Counts the notes of the steps of a cycle. */
export function count({ metrics }: Shared, notes: Note[]): void {
  let succeeded = 0
  for (const note of notes) {
    if (note.kind === 'ended' && note.status === 'SUCCEEDED') {
      succeeded++
      continue
    }
    if (note.kind === 'skipped') metrics.skipped.inc({ reason: note.reason }, note.count)
    else if (note.kind === 'stale') metrics.staleEvents.inc({ type: note.what })
    else if (note.kind === 'lease-lost') metrics.leasesLost.inc()
    else if (note.kind === 'waiting') metrics.waits.inc({ reason: note.reason })
    else if (note.kind === 'moved') metrics.zoneMoved.inc()
    else if (note.kind === 'refused') metrics.refused.inc({ what: note.what, reason: note.reason }, note.count)
    else if (note.kind === 'shortened') metrics.shortened.inc({ what: 'state' })
    else if (note.kind === 'invalid') metrics.invalid.inc({ reason: 'bad-definition' })
    else {
      metrics.runs.inc({ status: note.status })
      if (note.status === 'DEAD') metrics.deadLetters.inc()
    }
  }
  if (succeeded > 0) metrics.runs.inc({ status: 'SUCCEEDED' }, succeeded)
}

/** Start lateness of the handler in ms if the input is the first report of it; never below 0. */
export function startLatenessMs(before: Job, input: Input): number | undefined {
  if (input.kind !== 'event') return undefined
  const { type, startedAt, at, runNo, attempt, specOffset } = input.event
  if (type !== 'STARTED' && startedAt === null) return undefined
  const run = before.state?.active.find((candidate) => candidate.runNo === runNo)
  if (run?.status !== 'DISPATCHED' || run.attempt !== attempt || run.specOffset !== specOffset) return undefined
  return Math.max(0, (startedAt ?? at) - run.dueAt)
}

/** Number of runs whose attempt failed and will be retried. */
export function retriesIn(before: readonly ActiveRun[], after: readonly ActiveRun[]): number {
  let retries = 0
  for (const run of after) {
    const earlier = before.find(({ runNo }) => runNo === run.runNo)
    if (earlier !== undefined && run.attempt > earlier.attempt && run.errors.at(-1) !== earlier.errors.at(-1)) retries++
  }
  return retries
}
