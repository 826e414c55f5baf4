/**
 * What becomes of an attempt.
 *
 *   DISPATCHED ──started──► RUNNING ──succeeded──► SUCCEEDED
 *       │  ▲                   │
 *       │  └── due ── RETRY_WAIT ◄──failed, lease lost, timed out──┘
 *       │                      └──attempts used up, not retryable──► DEAD
 *       └──start deadline──► EXPIRED
 *
 * A report is applied only to the attempt it names; any other is counted and dropped.
 */
import type { ActiveRun, ExecutionEvent, RunError, RunErrorInput } from '../../schemas/generated.ts'
import { patchRun } from '../draft.ts'
import type { Context, Decision } from '../job.ts'
import { type Timer, timerKind } from '../keys.ts'
import { retryDelayMs } from '../retries/backoff.ts'
import { tierFor } from '../retries/tier.ts'
import { attemptTimeoutGraceMs } from '../timers.ts'
import { dispatch, executionOf } from './dispatch.ts'
import { finishRun } from './finish.ts'

/** Failed attempts that a run remembers. */
const errorsKept = 5
const messageCharsMax = 1_000

/** Applies a worker's or the forwarder's report. */
export function applyEvent(draft: Decision, event: ExecutionEvent, context: Context): void {
  const run = draft.job.state?.active.find((candidate) => candidate.runNo === event.runNo)
  const current = run !== undefined && run.attempt === event.attempt && run.specOffset === event.specOffset
  const waiting = run?.status === 'RETRY_WAIT'
  if (!current || waiting !== (event.type === 'RETRY_DUE')) {
    draft.notes.push({ kind: 'stale', what: event.type })
    return
  }
  switch (event.type) {
    case 'STARTED':
      if (run.status === 'DISPATCHED')
        patchRun(draft, run, { status: 'RUNNING', startedAt: event.startedAt ?? event.at, worker: event.worker })
      else draft.notes.push({ kind: 'stale', what: event.type })
      return
    case 'SUCCEEDED': {
      const { startedAt, worker, result } = event
      return finishRun(draft, run, { status: 'SUCCEEDED', finishedAt: context.now, startedAt, worker, result })
    }
    case 'FAILED': {
      const seen = patchRun(draft, run, { startedAt: event.startedAt ?? run.startedAt, worker: event.worker })
      return failAttempt(draft, seen, event.error ?? { type: 'Error', message: 'The worker gave no reason.' }, context)
    }
    case 'RELEASED':
      return dispatch(
        draft,
        // A stopping worker also gives back what it held and had not started: that is still not due before its time.
        patchRun(draft, run, {
          attempt: run.attempt + 1,
          lostAttempts: run.lostAttempts + 1,
          dueAt: Math.max(run.dueAt, context.now),
        }),
        context,
      )
    case 'RETRY_DUE':
      if (run.dueAt - context.leadMs <= context.now) dispatch(draft, run, context)
      else patchRun(draft, run, { parked: true })
  }
}

/** Acts on a timer of a run. Timers that no longer follow from the run's state do nothing. */
export function applyRunTimer(draft: Decision, timer: Timer, context: Context): void {
  const run = draft.job.state?.active.find((candidate) => candidate.runNo === timer.runNo)
  if (run === undefined) return
  switch (timer.kind) {
    case timerKind.retryResidue:
      if (run.status === 'RETRY_WAIT' && run.parked && run.dueAt === timer.dueAt) dispatch(draft, run, context)
      return
    case timerKind.startDeadline:
      if (run.status === 'DISPATCHED' && run.startDeadlineAt <= context.now) {
        finishRun(draft, run, { status: 'EXPIRED', finishedAt: context.now })
      }
      return
    case timerKind.lease:
      if (run.status === 'RUNNING') checkLease(draft, run, context)
      return
    case timerKind.attemptTimeout:
      if (run.status === 'RUNNING' && (run.startedAt ?? 0) + run.attemptTimeoutMs + attemptTimeoutGraceMs <= context.now) {
        failAttempt(
          draft,
          run,
          {
            type: 'AttemptTimeout',
            message: `The attempt took longer than ${run.attemptTimeoutMs} ms and its worker did not say so.`,
          },
          context,
        )
      }
  }
}

function checkLease(draft: Decision, run: ActiveRun, context: Context): void {
  const until = Math.max(context.seenAt(draft.job.id, run.runNo, run.attempt), run.startedAt ?? 0) + run.leaseMs
  if (until > context.now) {
    draft.extraTimers.push({ dueAt: until, kind: timerKind.lease, jobId: draft.job.id, runNo: run.runNo })
    return
  }
  draft.notes.push({ kind: 'lease-lost' })
  const message = `The worker ${run.worker ?? ''} was silent for longer than the lease of ${run.leaseMs} ms.`
  failAttempt(draft, run, { type: 'LeaseLost', message, retryAfterMs: 0 }, context)
}

/** Records a failed attempt and retries the run, or gives it up. */
function failAttempt(draft: Decision, run: ActiveRun, error: RunErrorInput | RunError, context: Context): void {
  const { now } = context
  const message = error.message.slice(0, messageCharsMax)
  const failure = { attempt: run.attempt, at: now, worker: run.worker, type: error.type, message }
  const failed = patchRun(draft, run, { errors: [...run.errors, failure].slice(-errorsKept) })
  const retry = draft.job.definition?.spec?.retry
  const attemptsMade = run.attempt - run.lostAttempts
  const retryable = error.retryable !== false && retry !== undefined && !retry.nonRetryable.includes(error.type)
  if (!retryable || attemptsMade >= retry.maxAttempts) return giveUp(draft, failed, now)
  const delayMs = error.retryAfterMs ?? retryDelayMs(retry, attemptsMade, draft.job.id, run.runNo)
  const tier = tierFor(delayMs)
  const waiting = patchRun(draft, failed, {
    status: 'RETRY_WAIT',
    attempt: run.attempt + 1,
    dueAt: now + delayMs,
    parked: tier === undefined,
    worker: null,
  })
  if (delayMs === 0) dispatch(draft, waiting, context)
  else if (tier !== undefined) draft.out.push({ kind: 'retry', tier, execution: executionOf(draft.job, waiting, now) })
}

function giveUp(draft: Decision, run: ActiveRun, now: number): void {
  const { runNo, attempt, errors } = run
  const letter = { jobId: draft.job.id, runNo, attempts: attempt, deadAt: now, errors }
  draft.out.push({ kind: 'dead-letter', letter, execution: executionOf(draft.job, run, run.dispatchedAt) })
  finishRun(draft, run, { status: 'DEAD', finishedAt: now })
}
