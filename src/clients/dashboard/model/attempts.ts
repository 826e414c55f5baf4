/** The attempts of a run in order, from its errors and its last attempt. */
import type { AttemptError, Run } from '../../../ground/answers/index.ts'
import { isActive, isStarted } from './words.ts'

type Outcome = Run['status'] | 'FAILED'

export interface Attempt {
  attempt: number
  /** FAILED for an attempt that another one followed. */
  outcome: Outcome
  dueAt: string | null | undefined
  dispatchedAt: string | null | undefined
  startedAt: string | null | undefined
  /** Null while it is active. */
  endedAt: string | null
  /** Start after the due time. Undefined if it has not started, or if a time is unknown. */
  lateMs: number | undefined
  durationMs: number | undefined
  worker: string | null
  error: AttemptError | undefined
  fromMs: number
  toMs: number
  /** WAITING: until it started. The other part is named by its outcome. */
  parts: { kind: Outcome; fromMs: number; toMs: number }[]
}

type Times = Pick<Attempt, 'attempt' | 'outcome' | 'dueAt' | 'dispatchedAt' | 'startedAt' | 'endedAt' | 'worker' | 'error'>

/** Oldest first. Attempts before the last five that failed are not kept. */
export function attemptsOf(run: Run, nowMs: number): Attempt[] {
  const { errors, status } = run
  const last = run.attempt ?? run.attempts
  const failed = errors.map((error): Times => {
    const { attempt, dueAt, dispatchedAt, startedAt, at, worker } = error
    // The run ended with it.
    const outcome = attempt === last && !isActive(run) ? status : 'FAILED'
    return { attempt, outcome, dueAt, dispatchedAt, startedAt, endedAt: at, worker, error }
  })
  if (failed.at(-1)?.attempt !== last) failed.push(lastOf(run))
  return failed.map((times) => timed(times, nowMs, run.scheduledFor))
}

function lastOf(run: Run): Times {
  const { status, dueAt, dispatchedAt, startedAt, finishedAt, worker } = run
  // While it waits for a retry or a limit, the run has the dispatch of the attempt before.
  const dispatched = status === 'RETRY_WAIT' || status === 'WAITING' ? null : dispatchedAt
  const times = { dueAt, dispatchedAt: dispatched, startedAt: isStarted(run) ? startedAt : null, endedAt: finishedAt }
  return { attempt: run.attempt ?? run.attempts, outcome: status, ...times, worker, error: undefined }
}

function timed(times: Times, nowMs: number, scheduledFor: string): Attempt {
  const { attempt, outcome, dueAt, startedAt, endedAt } = times
  const startMs = startedAt == null ? undefined : Date.parse(startedAt)
  const endMs = endedAt === null ? nowMs : Date.parse(endedAt)
  const dueMs = dueAt != null ? Date.parse(dueAt) : attempt === 1 ? Date.parse(scheduledFor) : undefined
  const fromMs = Math.min(dueMs ?? startMs ?? endMs, startMs ?? endMs)
  const parts: Attempt['parts'] = []
  if (fromMs < (startMs ?? endMs)) parts.push({ kind: 'WAITING', fromMs, toMs: startMs ?? endMs })
  if (startMs !== undefined) parts.push({ kind: outcome, fromMs: startMs, toMs: Math.max(startMs, endMs) })
  return {
    ...times,
    lateMs: startMs === undefined || dueMs === undefined ? undefined : Math.max(0, startMs - dueMs),
    durationMs: startMs === undefined ? undefined : Math.max(0, endMs - startMs),
    ...{ fromMs, toMs: Math.max(fromMs, endMs), parts },
  }
}
