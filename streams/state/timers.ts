/**
 * Which timers a job has: a pure function of what is known of it. Live updates write the difference between before and after,
 * a restore writes them all, so both end in the same index; a timer that no longer follows from the state is dropped when popped.
 */
import type { ActiveRun, JobState } from '../../schemas/index.ts'
import { dueAtOf, firstFire } from '../schedules/index.ts'
import type { Job } from './job.ts'
import { type Timer, timerKind } from './keys.ts'

/** How long the owner waits beyond a time that the worker keeps by itself, attemptTimeoutMs or the start deadline, for the worker's report. */
export const attemptTimeoutGraceMs = 5_000
/** How long after the end of a backoff the owner waits for the forwarder, before it lets the attempt go by itself (ADR 0037). */
export const retryBackstopMs = 60_000

/** When a run that has not started expires. What was dispatched a worker may have started in time: its report may be on its way. */
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

/** Timers that follow from a logged state alone, without its definition: what a restore needs. */
export function stateTimers(jobId: string, state: JobState): Timer[] {
  const timers: Timer[] = []
  if (state.status === 'ACTIVE' && state.nextFireAt !== null && !state.waiting) {
    timers.push({ dueAt: state.nextDueAt ?? state.nextFireAt, kind: timerKind.fire, jobId, runNo: 0 })
  }
  for (const run of state.active) runTimers(jobId, run, timers)
  if (state.deleteAt !== null && state.active.length === 0) {
    timers.push({ dueAt: state.deleteAt, kind: timerKind.delete, jobId, runNo: 0 })
  }
  if (state.recheckAt !== null) timers.push({ dueAt: state.recheckAt, kind: timerKind.recheck, jobId, runNo: 0 })
  return timers
}

/** When the owner lets an attempt go that waits for its backoff. One that is not parked is in a delay topic, whose record may be lost. */
export const retryTimerAt = ({ dueAt, parked }: ActiveRun): number => (parked ? dueAt : dueAt + retryBackstopMs)

function runTimers(jobId: string, run: ActiveRun, timers: Timer[]): void {
  const { runNo } = run
  switch (run.status) {
    case 'DISPATCHED':
      timers.push({ dueAt: expiresAt(run), kind: timerKind.startDeadline, jobId, runNo })
      // As a running one has to be heard of, a pinned one has to be taken.
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
      timers.push({ dueAt: retryTimerAt(run), kind: timerKind.retryResidue, jobId, runNo })
      break
  }
}
