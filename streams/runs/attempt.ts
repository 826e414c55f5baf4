/**
 * State machine of an attempt.
 *
 *   WAITING ──a slot, its start──► DISPATCHED, before each attempt of a run with limits (gate.ts)
 *
 *   DISPATCHED ──started──► RUNNING ──succeeded──► SUCCEEDED
 *       │  ▲                   │
 *       │  └── due ── RETRY_WAIT ◄──failed, lease lost, timed out──┘
 *       │                      └──attempts used up, not retryable──► DEAD
 *       └──start deadline──► EXPIRED, and so from WAITING
 *
 * A run whose handler no worker has waits in RETRY_WAIT without losing an attempt (missing-handler.ts), and so does a run of a paused
 * pool (paused-pool.ts).
 *
 * A report is applied only to the attempt it names; any other is counted and dropped.
 */
import type { ActiveRun, ExecutionEvent, JobDefinition, Retry, RunError, RunErrorInput } from '../../schemas/index.ts'
import { completeDefinition } from '../definitions/index.ts'
import {
  attemptTimeoutGraceMs,
  type Context,
  type Decision,
  expiresAt,
  isCurrentReport,
  type Job,
  patchRun,
  retryTimerAt,
  type Timer,
  timerKind,
  waitsForHandler,
  waitsForPool,
  waitsForTopic,
  waitsForWorker,
} from '../state/index.ts'
import { executionOf, leadMsLimit, mayBeEarly } from './dispatch.ts'
import { finishRun } from './finish.ts'
import { beginAttempt, beginReserved } from './gate.ts'
import { checkHandler, followWorkers, handlerMissed, saysHandlerMissing } from './missing-handler.ts'
import { checkPool, missedByPause } from './paused-pool.ts'
import { followNamed, redeliver } from './redelivery.ts'
import { attemptErrorOf, retryDelayMaxMs, retryDelayMs, tierFor, withAttemptError } from './retries.ts'
import { keepSnapshot } from './snapshots.ts'
import { checkTopic } from './topic-wait.ts'

/** For a run whose definition was replaced by an invalid one: a bad update must not end an active run. */
const retryDefault: Retry = completeDefinition({ schedule: { at: 0 }, target: { handler: 'none' } }).retry

/** Applies a worker's or the forwarder's report. */
export function applyEvent(draft: Decision, event: ExecutionEvent, context: Context, note?: string): void {
  const run = draft.job.state?.active.find((candidate) => candidate.runNo === event.runNo)
  if (run === undefined || !isCurrentReport(run, event)) {
    draft.notes.push({ kind: 'stale', what: event.type })
    return
  }
  switch (event.type) {
    case 'STARTED':
      if (run.status === 'DISPATCHED')
        patchRun(draft, run, {
          ...{ status: 'RUNNING', startedAt: startOf(run, event, context), worker: event.worker },
          handlerMissingAt: null,
        })
      else draft.notes.push({ kind: 'stale', what: event.type })
      return
    case 'SUCCEEDED': {
      const { worker, result, message } = event
      const startedAt = event.startedAt === null ? run.startedAt : startOf(run, event, context)
      const ending = { status: 'SUCCEEDED', finishedAt: context.now, startedAt, worker, result } as const
      return finishRun(
        draft,
        run,
        { ...ending, note: note ?? (result === null && message !== null ? message : undefined) },
        context,
      )
    }
    case 'FAILED': {
      const seen = patchRun(draft, run, {
        startedAt: event.startedAt === null ? run.startedAt : startOf(run, event, context),
        worker: event.worker,
      })
      if (saysHandlerMissing(run, event)) return handlerMissed(draft, seen, context)
      return failAttempt(draft, seen, event.error ?? { type: 'Error', message: 'The worker gave no reason.' }, context)
    }
    case 'RELEASED': {
      // A stopping worker also releases prefetched runs that it has not started. They are still not due before their time.
      const next = nextAttempt(draft, run, Math.max(run.dueAt, context.now))
      const given = patchRun(draft, run, {
        ...{ ...next, worker: event.worker, releasedAttempts: run.releasedAttempts + 1 },
        unstartedAttempts: run.unstartedAttempts + (run.status === 'RUNNING' || event.startedAt !== null ? 0 : 1),
      })
      if (next.dueAt - context.now <= leadMsLimit) return beginAttempt(draft, given, context)
      // A clock that was ahead dispatched it long before its time. No worker should keep it until then.
      patchRun(draft, given, { status: 'RETRY_WAIT', parked: true, tellAt: null, startedAt: null, worker: null })
      return
    }
    case 'RETRY_DUE': {
      const due = correctRetryTime(draft, run, context.now)
      if (due.dueAt - context.leadMs <= context.now) beginAttempt(draft, due, context)
      else if (!due.parked) patchRun(draft, due, { parked: true })
    }
  }
}

/**
 * Corrects a run whose failure was recorded in the future, by a clock that was ahead: its next attempt is as much too late. The delay of
 * its tier has passed by the brokers' time, so only the rest of the backoff is left.
 */
function correctRetryTime(draft: Decision, run: ActiveRun, now: number): ActiveRun {
  const failedAt = run.errors.at(-1)?.at ?? now
  if (failedAt - now <= leadMsLimit) return run
  const delayMs = Math.max(0, run.dueAt - failedAt)
  return patchRun(draft, run, { dueAt: Math.min(run.dueAt, now + delayMs - (tierFor(delayMs)?.delayMs ?? 0)) })
}

/** Start of the attempt as reported by its worker, limited by the owner's clock, because leases and timeouts are counted from it. */
function startOf(run: ActiveRun, { startedAt, at }: ExecutionEvent, { now }: Context): number {
  // The upper limit also holds if the clock was ahead when it was dispatched.
  return Math.min(Math.max(run.dispatchedAt, startedAt ?? at), now)
}

/** The next attempt, due at `dueAt`, with as much time until its start deadline as this one had. */
function nextAttempt({ job }: Decision, run: ActiveRun, dueAt: number): Pick<ActiveRun, 'attempt' | 'dueAt' | 'startDeadlineAt'> {
  const had = run.startDeadlineAt - Math.max(run.dueAt, run.dispatchedAt)
  // The retention of its topic or expireAt may have shortened it. Each dispatch applies them again.
  const startDeadlineMs = run.limits?.startDeadlineMs ?? Math.max(had, specOf(job, run)?.startDeadlineMs ?? 0)
  return { attempt: run.attempt + 1, dueAt, startDeadlineAt: Math.max(dueAt, run.dispatchedAt) + startDeadlineMs }
}

/** Applies a timer of a run. A timer that no longer follows from the state of the run does nothing. */
export function applyRunTimer(draft: Decision, timer: Timer, context: Context): void {
  const run = draft.job.state?.active.find((candidate) => candidate.runNo === timer.runNo)
  if (run === undefined) return
  switch (timer.kind) {
    case timerKind.retry:
      if (run.status !== 'RETRY_WAIT') return
      // Only its first check follows from the state. Others that are not needed any more do no harm: the next one is the same timer.
      if (waitsForHandler(run)) return checkHandler(draft, run, timer, context)
      if (waitsForPool(run)) return checkPool(draft, run, timer, context)
      if (waitsForTopic(run)) return checkTopic(draft, run, timer, context)
      if (retryTimerAt(run) !== timer.dueAt) return
      if (run.dueAt > context.now && !mayBeEarly(draft.job, run)) draft.deferUntil = run.dueAt
      else beginAttempt(draft, run, context)
      return
    case timerKind.start:
      if (run.status === 'WAITING' && run.waitsFor === 'RATE' && run.dueAt === timer.dueAt) beginReserved(draft, run, context)
      return
    case timerKind.startDeadline:
      if (run.status === 'DISPATCHED' || run.status === 'WAITING') checkStart(draft, run, timer, context)
      return
    case timerKind.lease:
      if (run.status === 'RUNNING') checkLease(draft, run, context)
      // Its first check follows from the state, the others do not.
      else if (waitsForWorker(run) && (run.tellAt ?? 0) <= timer.dueAt) redeliver(draft, run, timer, context)
      return
    case timerKind.workers:
      return waitsForWorker(run) && run.routedTo === null ? followNamed(draft, run, context) : followWorkers(draft, run, context)
    case timerKind.attemptTimeout:
      if (run.status === 'RUNNING') checkTimeout(draft, run, timer, context)
  }
}

/** The definition that the run was made from, if it is still in force. */
const specOf = ({ definition }: Job, { specOffset }: ActiveRun): JobDefinition | undefined =>
  definition?.offset === specOffset ? definition.spec : undefined

function deadlineReason(job: Job, run: ActiveRun): string {
  if (run.waitsFor !== null) return run.waitsFor === 'SLOT' ? 'concurrency-limit' : 'rate-limit'
  const spec = specOf(job, run)
  if (spec === undefined || run.limits !== null || run.startDeadlineAt === spec.expireAt) return 'start-deadline'
  const asked = Math.max(run.dueAt, run.dispatchedAt) + spec.startDeadlineMs
  return run.startDeadlineAt < asked ? 'topic-retention' : 'start-deadline'
}

/** Whether unread reports could change the judgement; then the timer waits for them. */
function awaitsEvents(draft: Decision, untilMs: number, { eventsReadUntil }: Context): boolean {
  if (untilMs <= eventsReadUntil) return false
  draft.awaitsEventsUntil = untilMs
  return true
}

function checkStart(draft: Decision, run: ActiveRun, timer: Timer, context: Context): void {
  const until = expiresAt(run)
  if (until > context.now) {
    // The clock was set back since the timer was taken, or the timer is that of an earlier attempt.
    if (timer.dueAt === until) draft.deferUntil = until
    return
  }
  // A run that waits for a slot or a start has no worker that could report.
  if (run.status === 'DISPATCHED' && (awaitsEvents(draft, until, context) || missedByPause(draft, run, context))) return
  finishRun(draft, run, { status: 'EXPIRED', finishedAt: context.now, reason: deadlineReason(draft.job, run) }, context)
}

function checkTimeout(draft: Decision, run: ActiveRun, timer: Timer, context: Context): void {
  const until = (run.startedAt ?? 0) + run.attemptTimeoutMs + attemptTimeoutGraceMs
  if (until > context.now) {
    if (timer.dueAt === until) draft.deferUntil = until
    return
  }
  if (awaitsEvents(draft, until, context)) return
  const message = `The attempt took longer than ${run.attemptTimeoutMs} ms and its worker did not say so.`
  failAttempt(draft, run, { type: 'AttemptTimeout', message }, context)
}

function checkLease(draft: Decision, run: ActiveRun, context: Context): void {
  const until = Math.max(context.seenAt(draft.job.id, run), run.startedAt ?? 0) + run.leaseMs
  if (until > context.now) {
    draft.extraTimers.push({ dueAt: until, kind: timerKind.lease, jobId: draft.job.id, runNo: run.runNo })
    return
  }
  if (awaitsEvents(draft, until, context)) return
  draft.notes.push({ kind: 'lease-lost' })
  const worker = run.worker ? `The worker ${run.worker}` : 'The worker'
  const message = `${worker} was silent for longer than the lease of ${run.leaseMs} ms.`
  failAttempt(draft, run, { type: 'LeaseLost', message, retryAfterMs: 0 }, context)
}

/** Records a failed attempt and retries the run, or gives it up. */
function failAttempt(draft: Decision, run: ActiveRun, error: RunErrorInput | RunError, context: Context): void {
  const { now } = context
  const failed = patchRun(draft, run, { errors: withAttemptError(run.errors, attemptErrorOf(run, error, now)) })
  const retry = draft.job.definition?.spec?.retry ?? retryDefault
  const attemptsMade = run.attempt - run.releasedAttempts
  const retryable = error.retryable !== false && !retry.nonRetryable.includes(error.type)
  if (!retryable) return giveUp(draft, failed, 'not-retryable', context)
  if (attemptsMade >= retry.maxAttempts) return giveUp(draft, failed, 'attempts', context)
  const delayMs =
    typeof error.retryAfterMs === 'number'
      ? Math.min(Math.max(0, error.retryAfterMs), retryDelayMaxMs)
      : retryDelayMs(retry, attemptsMade, draft.job.id, run.runNo)
  const dueAt = Math.max(run.dueAt, now) + delayMs
  // A redriven run or a run of a backfill is old from its start, so maxAgeMs does not apply.
  const ages = run.trigger !== 'REDRIVE' && run.trigger !== 'BACKFILL'
  if (ages && retry.maxAgeMs !== null && dueAt - run.scheduledFor > retry.maxAgeMs)
    return giveUp(draft, failed, 'max-age', context)
  const tier = tierFor(delayMs)
  const waiting = patchRun(draft, failed, {
    ...nextAttempt(draft, run, dueAt),
    status: 'RETRY_WAIT',
    startedAt: null,
    // The end of its tier is the end of its backoff, or the time index ends the wait.
    parked: tier?.delayMs !== delayMs,
    worker: null,
    ...{ handlerMissingAt: null, poolPausedAt: null, routedTo: null, tellAt: null },
  })
  if (delayMs === 0) beginAttempt(draft, waiting, context)
  else if (tier !== undefined) draft.out.push({ kind: 'retry', tier, execution: executionOf(draft.job, waiting, now) })
}

function giveUp(draft: Decision, run: ActiveRun, reason: string, context: Context): void {
  const { now } = context
  const { runNo, attempt, errors } = run
  const letter = { jobId: draft.job.id, runNo, attempts: attempt - run.unstartedAttempts, deadAt: now, errors }
  const execution = executionOf(draft.job, run, run.dispatchedAt)
  draft.out.push({ kind: 'dead-letter', letter, execution })
  // Kept for a redrive, with its end.
  keepSnapshot(draft, execution)
  finishRun(draft, run, { status: 'DEAD', finishedAt: now, reason }, context)
}
