/**
 * Timers of a job: a pure function of the job. Live updates write the difference between before and after, and a restore writes all, so
 * both end in the same index. A timer that no longer follows from the state is dropped when it is due.
 */
import type { ActiveRun, JobState } from '../../schemas/index.ts'
import { dueAtOf, firstFire } from '../schedules/index.ts'
import type { Job } from './job.ts'
import { type Timer, timerKind } from './keys.ts'

/** How long the owner waits for the worker's report after a limit that the worker itself enforces: attemptTimeoutMs or the start deadline. */
export const attemptTimeoutGraceMs = 5_000
/** How long after the end of a backoff that is as long as its tier the owner waits for the retry forwarder (ADR 0137). */
export const retryGuardMs = 60_000

/** When a run that has not started expires. A worker may have started a dispatched run in time, with its report still unread. */
export const expiresAt = ({ status, startDeadlineAt }: ActiveRun): number =>
  status === 'DISPATCHED' ? startDeadlineAt + attemptTimeoutGraceMs : startDeadlineAt

export function timersOf(job: Job): Timer[] {
  if (job.state !== undefined) return stateTimers(job.id, job.state)
  const { definition } = job
  if (definition?.spec === undefined || definition.spec.paused) return []
  const { spec, appendedAt } = definition
  const nominal = firstFire(spec, appendedAt)
  if (nominal === null) return []
  const dueAt = dueAtOf(spec, appendedAt, job.id, nominal)
  return [{ dueAt, kind: timerKind.fire, jobId: job.id, runNo: 0 }]
}

/** Timers that follow from a logged state alone, without its definition; a restore needs them. */
export function stateTimers(jobId: string, state: JobState): Timer[] {
  const timers: Timer[] = []
  if (state.status === 'ACTIVE' && state.nextFireAt !== null && !state.waiting) {
    timers.push({ dueAt: state.nextDueAt ?? state.nextFireAt, kind: timerKind.fire, jobId, runNo: 0 })
  }
  for (const run of state.active) runTimers(jobId, run, timers)
  if (state.followUps?.lookAt != null && state.status !== 'INVALID') {
    timers.push({ dueAt: state.followUps.lookAt, kind: timerKind.followUps, jobId, runNo: 0 })
  }
  if (state.deleteAt !== null && state.active.length === 0) {
    timers.push({ dueAt: state.deleteAt, kind: timerKind.delete, jobId, runNo: 0 })
  }
  if (state.recheckAt !== null) timers.push({ dueAt: state.recheckAt, kind: timerKind.recheck, jobId, runNo: 0 })
  return timers
}

/** Whether a run waits for a worker that has its handler. */
export const waitsForHandler = ({ status, handlerMissingAt, tellAt }: ActiveRun): boolean =>
  status === 'RETRY_WAIT' && handlerMissingAt !== null && tellAt !== null

/** Whether a run waits until its pool is resumed. */
export const waitsForPool = ({ status, poolPausedAt, tellAt }: ActiveRun): boolean =>
  status === 'RETRY_WAIT' && poolPausedAt !== null && tellAt !== null

/** Whether a run waits until a record can be written to its topic. */
export const waitsForTopic = ({ status, handlerMissingAt, poolPausedAt, tellAt }: ActiveRun): boolean =>
  status === 'RETRY_WAIT' && handlerMissingAt === null && poolPausedAt === null && tellAt !== null

/** Whether a run was sent to one worker that has not started it. */
export const waitsForWorker = ({ status, tellAt }: ActiveRun): boolean => status === 'DISPATCHED' && tellAt !== null

/** The guard of an attempt that waits: when the owner itself goes on with it. Only while the retry forwarder is to end the wait, it comes later. */
export function retryTimerAt(run: ActiveRun): number {
  const { dueAt, parked, tellAt } = run
  if (run.status === 'RETRY_WAIT' && tellAt !== null) return tellAt
  return parked ? dueAt : dueAt + retryGuardMs
}

function runTimers(jobId: string, run: ActiveRun, timers: Timer[]): void {
  const { runNo } = run
  switch (run.status) {
    case 'DISPATCHED':
      timers.push({ dueAt: expiresAt(run), kind: timerKind.startDeadline, jobId, runNo })
      // A worker must take a run that was sent to it alone, as it must send heartbeats for a running one.
      if (run.tellAt !== null) timers.push({ dueAt: run.tellAt, kind: timerKind.lease, jobId, runNo })
      break
    case 'WAITING':
      timers.push({ dueAt: expiresAt(run), kind: timerKind.startDeadline, jobId, runNo })
      if (run.waitsFor === 'RATE' && run.dueAt < run.startDeadlineAt)
        timers.push({ dueAt: run.dueAt, kind: timerKind.start, jobId, runNo })
      break
    case 'RUNNING': {
      const startedAt = run.startedAt ?? run.dispatchedAt
      timers.push({ dueAt: startedAt + run.leaseMs, kind: timerKind.lease, jobId, runNo })
      timers.push({
        dueAt: startedAt + run.attemptTimeoutMs + attemptTimeoutGraceMs,
        kind: timerKind.attemptTimeout,
        jobId,
        runNo,
      })
      break
    }
    case 'RETRY_WAIT':
      timers.push({ dueAt: retryTimerAt(run), kind: timerKind.retry, jobId, runNo })
      break
  }
}
