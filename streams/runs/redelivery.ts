/**
 * Repeated delivery of a run that was sent to one worker. A worker reads worker-control only from its own start. So a worker that was down, or
 * that restarts after it has released a run, would never get it. A worker that already has the attempt takes it only once.
 *
 * Nothing is sent while nobody would read it: a pinned run is sent again when a worker of its name comes. The times are for what the owner does
 * not see.
 */
import type { ActiveRun } from '../../schemas/index.ts'
import { type Context, type Decision, patchRun, type Timer } from '../state/index.ts'
import { controlRetentionMs } from '../topics/index.ts'
import { executionOf } from './dispatch.ts'
import { sendElsewhere } from './missing-handler.ts'
import { checkLater } from './wait-checks.ts'

/** The longest time between two deliveries to a worker that is there, or of which nothing is known. */
export const redeliverMsMax = 600_000

/** The first delivery is repeated one lease after the due time. Later the wait is as long as the run has waited already. A check that sends nothing is not logged. */
export function redeliver(draft: Decision, run: ActiveRun, { dueAt }: Timer, context: Context): void {
  // The clock was set back since the timer was taken.
  if (dueAt > context.now) draft.deferUntil = dueAt
  else if (sendElsewhere(draft, run, context)) return
  else if (isRead(run, context) || namedSince(draft, run, context) === null) checkLater(draft, run, context.now)
  else send(draft, run, context)
}

/** The workers of the pool have changed. A pinned run is sent again if those of its name have changed since it was sent last. */
export function followNamed(draft: Decision, run: ActiveRun, context: Context): void {
  if ((namedSince(draft, run, context) ?? 0) > sentAtOf(run)) send(draft, run, context)
}

/** See Context#namedSince. Of a run whose owner has chosen the worker, nothing is known by name. */
function namedSince({ job }: Decision, run: ActiveRun, context: Context): number | null | undefined {
  const { pool, pinTo } = executionOf(job, run, run.dispatchedAt)
  return run.routedTo === null && pinTo !== null ? context.namedSince?.(pool, pinTo) : undefined
}

/**
 * A worker that was chosen because it was there reads the first copy, however long its backlog is. It forgets the oldest of many attempts, so a
 * second copy could run twice.
 */
const isRead = (run: ActiveRun, { now }: Context): boolean =>
  run.routedTo !== null && now - sentFrom(run) < controlRetentionMs / 2

function send(draft: Decision, run: ActiveRun, { now }: Context): void {
  const waitedMs = Math.min(now - sentFrom(run), redeliverMsMax)
  const redelivered = patchRun(draft, run, { tellAt: now + Math.max(waitedMs, run.leaseMs) })
  const execution = executionOf(draft.job, redelivered, run.dispatchedAt)
  const to = run.routedTo ?? execution.pinTo
  if (to !== null) draft.out.push({ kind: 'redeliver', execution, to })
}

/** From when the waits are counted. */
const sentFrom = ({ dueAt, dispatchedAt }: ActiveRun): number => Math.max(dueAt, dispatchedAt)

/** When it was sent last: `tellAt` follows from that. */
function sentAtOf(run: ActiveRun): number {
  const tellAt = run.tellAt ?? 0
  const waitMs = Math.max(Math.min((tellAt - sentFrom(run)) / 2, redeliverMsMax), run.leaseMs)
  const sentAt = tellAt - waitMs
  return sentAt === sentFrom(run) ? run.dispatchedAt : sentAt
}
