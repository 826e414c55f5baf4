/**
 * Checks of runs that wait for something outside of the logs: a worker with their handler, the one worker that they were sent to, the end of a
 * pause, their topic. The owner also follows when these change; the checks are for changes that nobody sees.
 *
 * The times follow from the begin of the wait. So a check that changes nothing is not logged, and a check that is set twice is one timer.
 */
import type { ActiveRun } from '../../schemas/index.ts'
import {
  type Decision,
  type Job,
  type Timer,
  timerKind,
  waitsForHandler,
  waitsForPool,
  waitsForTopic,
  waitsForWorker,
} from '../state/index.ts'

/** The first check comes after `firstMs`, each next one when the wait is twice as old, until `doublingMsMax`; then one comes each `eachMs`. */
interface CheckTimes {
  firstMs: number
  doublingMsMax: number
  eachMs: number
}

const handlerChecks: CheckTimes = { firstMs: 1_000, doublingMsMax: 64_000, eachMs: 60_000 }
/** A check only makes sure that nothing waits for ever. */
const poolChecks: CheckTimes = { firstMs: 600_000, doublingMsMax: 600_000, eachMs: 600_000 }
/** A topic may also refuse a record for its size or its rights, and nobody tells when it no longer does. */
const topicChecks: CheckTimes = { firstMs: 30_000, doublingMsMax: 960_000, eachMs: 600_000 }
/** A worker that restarts may be back before anybody has seen that it was away. */
const workerChecks: CheckTimes = { firstMs: 30_000, doublingMsMax: 480_000, eachMs: 600_000 }

/** The longest time until the next check. */
export const waitCheckMsMax = 600_000

/** The times of the checks: 1, 2, 4, … 64 s after the begin of the wait for a handler, then every 60 s. */
export function nextCheckAt(since: number, now: number, { firstMs, doublingMsMax, eachMs }: CheckTimes): number {
  const waitedMs = now - since
  let afterMs = firstMs
  while (afterMs <= waitedMs) afterMs *= 2
  // A negative wait: the clock was set back.
  if (afterMs > doublingMsMax || waitedMs < 0) {
    const phaseMs = doublingMsMax % eachMs
    afterMs = phaseMs + (Math.floor((waitedMs - phaseMs) / eachMs) + 1) * eachMs
  }
  return since + afterMs
}

/** It is also checked when it is due, and at its start deadline. */
export const handlerCheckAt = ({ handlerMissingAt, startDeadlineAt, dueAt }: ActiveRun, now: number): number =>
  Math.min(
    nextCheckAt(handlerMissingAt ?? now, now, handlerChecks),
    startDeadlineAt,
    dueAt > now ? dueAt : Number.POSITIVE_INFINITY,
  )

/** `expireAt`: of the job. A pause does not count against the start deadline. */
export const poolCheckAt = ({ poolPausedAt }: ActiveRun, now: number, expireAt: number): number =>
  Math.min(nextCheckAt(Math.min(poolPausedAt ?? now, now), now, poolChecks), Math.max(expireAt, now))

export const topicCheckAt = ({ errors, startDeadlineAt }: ActiveRun, now: number): number =>
  Math.min(nextCheckAt(errors.at(-1)?.at ?? now, now, topicChecks), startDeadlineAt)

/** It holds from its first check on; until then the time in the state does. */
const workerCheckAt = ({ dueAt, dispatchedAt }: ActiveRun, now: number): number =>
  nextCheckAt(Math.max(dueAt, dispatchedAt), now, workerChecks)

/** The next check of a run that waits; undefined if it does not. */
export function waitCheckOf({ id, definition }: Pick<Job, 'id' | 'definition'>, run: ActiveRun, now: number): Timer | undefined {
  if (waitsForWorker(run)) {
    const isChecked = (run.tellAt ?? 0) <= now
    return isChecked ? { dueAt: workerCheckAt(run, now), kind: timerKind.lease, jobId: id, runNo: run.runNo } : undefined
  }
  const expireAt = definition?.spec?.expireAt ?? Number.POSITIVE_INFINITY
  const dueAt = waitsForHandler(run)
    ? handlerCheckAt(run, now)
    : waitsForPool(run)
      ? poolCheckAt(run, now, expireAt)
      : waitsForTopic(run)
        ? topicCheckAt(run, now)
        : undefined
  return dueAt === undefined ? undefined : { dueAt, kind: timerKind.retry, jobId: id, runNo: run.runNo }
}

/** The next checks of all runs of a job that wait. The store has these timers, although they do not follow from the state alone. */
export const waitChecksOf = (job: Pick<Job, 'id' | 'definition' | 'state'>, now: number): Timer[] =>
  (job.state?.active ?? []).flatMap((run) => waitCheckOf(job, run, now) ?? [])

/** The check has changed nothing: only its timer moves. Many runs may wait for long, and their states are not logged again. */
export function checkLater(draft: Decision, run: ActiveRun, now: number): void {
  const next = waitCheckOf(draft.job, run, now)
  if (next !== undefined) draft.extraTimers.push(next)
}
