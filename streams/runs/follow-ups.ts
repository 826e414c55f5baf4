/**
 * Follow-ups that wait. The end that triggers one is durable, so a follow-up is never refused because the job has maxConcurrentRuns active
 * runs. It joins a queue and becomes a run as soon as there is a place; the schedule goes first.
 *
 * The queue is not in the state, which is logged with each decision. Its pages have records of their own under key F. A follow-up is
 * appended to the last page, which is written again, and a page is deleted when its last one has left. The state has its bounds only.
 */
import type { Cause, FollowUp, FollowUpQueue, JobCommand, JobDefinition, JobState } from '../../schemas/index.ts'
import { type Context, type Decision, patchState, pristineState, refuse, refuseCommand, type Timer } from '../state/index.ts'
import { backfillRunsMax, goOnWithBackfill, isDue } from './backfill.ts'
import { executionOf } from './dispatch.ts'
import { beginAttempt } from './gate.ts'
import { keepSnapshot } from './snapshots.ts'
import { completeIfDone, isOver, makeRun } from './start.ts'

/** Most bytes that wait for one job. So the pages can be deleted in one transaction, and a job that never ends does not fill the disk. */
export const followUpsBytesMax = 64 * 1024 * 1024
/** A page of this size takes no further follow-up. */
export const followUpPageBytesMax = 64 * 1024
/** Bytes of a follow-up besides its texts. */
const headBytes = 64

/** A run that a command triggers, with its input. */
type Triggered = Pick<JobCommand, 'commandId' | 'payload' | 'chainDepth' | 'chainLeft' | 'cause'>

/** Triggers a follow-up: a run at once if there is a place, and none waits. */
export function followUp(draft: Decision, command: JobCommand, context: Context): void {
  const { definition, state } = draft.job
  const spec = definition?.spec
  const waits = (state?.followUps ?? null) !== null || state?.status === 'INVALID'
  if (spec !== undefined && !waits && (state?.active.length ?? 0) < spec.maxConcurrentRuns)
    return startTriggered(draft, spec, 'FOLLOW_UP', command, context.now, context)
  const { commandId, payload, chainDepth, chainLeft, cause } = command
  const item: FollowUp = { commandId, at: context.now, payload, chainDepth, chainLeft, cause }
  if ((state?.followUps?.bytes ?? 0) + bytesOf(item) > followUpsBytesMax)
    return refuseCommand(draft, command, 'follow-ups-waiting', context.now)
  append(draft, item)
}

/** Starts the run that a command triggers. Its input is kept if the definition does not say it. */
export function startTriggered(
  draft: Decision,
  spec: JobDefinition,
  trigger: 'MANUAL' | 'FOLLOW_UP',
  { commandId, payload, cause, chainDepth, chainLeft }: Triggered,
  scheduledFor: number,
  context: Context,
): void {
  const hasInput = payload !== null || cause !== null
  const link = trigger === 'FOLLOW_UP' ? { chainDepth, chainLeft } : {}
  const run = makeRun(draft, spec, trigger, scheduledFor, context.now, context, { commandId, snapshot: hasInput, ...link })
  if (hasInput) {
    const execution = executionOf(draft.job, { ...run, snapshot: false }, context.now)
    keepSnapshot(draft, { ...execution, payload: payload ?? execution.payload, cause })
  }
  beginAttempt(draft, run, context)
}

/** Starts as many that wait as the job and one step allow. A timer that no longer follows from the state does nothing. */
export function startFollowUps(draft: Decision, timer: Timer, context: Context): void {
  const runsMax = backfillRunsMax(draft.job.definition?.bytes.length ?? 0)
  for (let begun = 0; begun < runsMax; begun++) {
    const { state, definition } = draft.job
    const spec = definition?.spec
    const queue = state?.followUps ?? null
    // A fault of this commit cycle may have made it INVALID after its timer was taken.
    if (state === undefined || spec === undefined || state.status === 'INVALID' || queue?.lookAt !== timer.dueAt) return
    if (isOver(spec, context.now)) {
      dropFollowUps(draft, 'expired', context.now)
      return settle(draft, context)
    }
    // An occurrence that is due has taken the place. The timer is gone, so the queue needs another one as soon as there is a place again.
    if (state.active.length >= placesFor(spec, state, context.now))
      return void patchState(draft, { followUps: { ...queue, lookAt: null } })
    const item = first(draft, context.now)
    if (item === undefined) {
      // The next page is loaded with the next timer. What a step that defers its timer has decided does not count.
      if (draft.job.state === draft.before) draft.deferUntil = context.now
      else settle(draft, context)
      return
    }
    leave(draft, item, context.now)
    startTriggered(draft, spec, 'FOLLOW_UP', item, item.at, context)
  }
}

/** Continues the work that waited for them. */
function settle(draft: Decision, context: Context): void {
  goOnWithBackfill(draft, context)
  completeIfDone(draft, context.now)
}

/** At the end of a step: the queue is looked at as soon as there is a place. */
export function watchFollowUps(draft: Decision, { now }: Context): void {
  const { state, definition } = draft.job
  const queue = state?.followUps ?? null
  if (state === undefined || queue === null || state === draft.before) return
  const spec = definition?.spec
  const hasPlace = spec !== undefined && state.status !== 'INVALID' && state.active.length < placesFor(spec, state, now)
  const lookAt = hasPlace ? Math.min(queue.lookAt ?? now, now) : null
  if (lookAt !== queue.lookAt) patchState(draft, { followUps: { ...queue, lookAt } })
}

/** Nothing that waits is run. */
export function dropFollowUps(draft: Decision, reason: string, at: number): void {
  const queue = draft.job.state?.followUps ?? null
  if (queue === null) return
  dropPages(draft, queue)
  patchState(draft, { followUps: null })
  noteDropped(draft, reason, queue.count, at)
}

/** Deletes the pages of the queue. */
export function dropPages(draft: Decision, { firstPage, lastPage }: FollowUpQueue): void {
  const pages: Map<number, readonly FollowUp[] | null> = new Map(draft.followUpPages)
  for (let page = firstPage; page <= lastPage; page++) pages.set(page, null)
  draft.followUpPages = pages
}

function noteDropped(draft: Decision, reason: string, count: number, at: number): void {
  refuse(draft, { at, what: 'DROPPED', reason, count })
  draft.notes.push({ kind: 'refused', what: 'FOLLOW_UP', reason, count })
}

/** Runs that the job may have beside those that wait. A due or queued occurrence goes first. */
function placesFor({ overlap, maxConcurrentRuns }: JobDefinition, state: JobState, now: number): number {
  if (state.status !== 'ACTIVE') return maxConcurrentRuns
  if (state.queuedFor !== null) return 0
  if (!isDue(state, now)) return maxConcurrentRuns
  return overlap === 'ALLOW' ? maxConcurrentRuns - 1 : 0
}

/** The one that goes first. Undefined: none waits, or its page is not loaded. */
function first(draft: Decision, now: number): FollowUp | undefined {
  for (;;) {
    const queue = draft.job.state?.followUps ?? null
    const page = queue === null ? undefined : draft.job.followUpPages?.get(queue.firstPage)
    if (queue === null || page === undefined) return undefined
    const item = page[queue.taken]
    if (item !== undefined) return item
    draft.followUpPages = new Map(draft.followUpPages).set(queue.firstPage, null)
    if (queue.firstPage < queue.lastPage) {
      patchState(draft, { followUps: { ...queue, firstPage: queue.firstPage + 1, taken: 0 } })
      continue
    }
    patchState(draft, { followUps: null })
    // Those of a page that cannot be read.
    if (queue.count > 0) noteDropped(draft, 'unreadable-follow-ups', queue.count, now)
  }
}

function leave(draft: Decision, item: FollowUp, now: number): void {
  const queue = draft.job.state?.followUps ?? null
  if (queue === null) return
  const { taken, count, bytes } = queue
  patchState(draft, { followUps: { ...queue, taken: taken + 1, count: count - 1, bytes: bytes - bytesOf(item) } })
  first(draft, now)
}

function append(draft: Decision, item: FollowUp): void {
  const { followUps } = draft.job.state ?? pristineState(draft.job)
  const queue = followUps ?? { firstPage: 0, taken: 0, lastPage: 0, count: 0, bytes: 0, lookAt: null }
  const last = followUps === null ? [] : draft.job.followUpPages?.get(queue.lastPage)
  // A page that cannot be read has unknown entries that have left it already: `taken` would count the new one as one of them.
  const isUnreadable = last?.length === 0 && followUps !== null
  const isFull =
    last === undefined || isUnreadable || last.reduce((sum, other) => sum + bytesOf(other), 0) >= followUpPageBytesMax
  const lastPage = queue.lastPage + (isFull ? 1 : 0)
  const page = isFull ? [item] : [...last, item]
  draft.followUpPages = new Map(draft.followUpPages).set(lastPage, page)
  draft.job.followUpPages = new Map(draft.job.followUpPages).set(lastPage, page)
  patchState(draft, {
    followUps: { ...queue, lastPage, count: queue.count + 1, bytes: queue.bytes + bytesOf(item) },
    ...{ finishedAt: null, deleteAt: null },
  })
}

/** A queue with these follow-ups, and its pages from number 0 on. Null without any. */
export function queueOf(items: readonly FollowUp[], lookAt: number | null): { queue: FollowUpQueue | null; pages: FollowUp[][] } {
  const pages: FollowUp[][] = []
  let [bytes, room] = [0, 0]
  for (const item of items) {
    if (room <= 0) {
      pages.push([])
      room = followUpPageBytesMax
    }
    pages.at(-1)?.push(item)
    room -= bytesOf(item)
    bytes += bytesOf(item)
  }
  const queue = { firstPage: 0, taken: 0, lastPage: pages.length - 1, count: items.length, bytes, lookAt }
  return { queue: items.length === 0 ? null : queue, pages }
}

const bytesOf = ({ commandId, payload, cause }: FollowUp): number =>
  headBytes + commandId.length + (payload?.length ?? 0) + (cause === null ? 0 : causeBytes(cause))

const causeBytes = ({ jobId, errorType, errorMessage, result }: Cause): number =>
  headBytes + jobId.length + (errorType?.length ?? 0) + (errorMessage?.length ?? 0) + (result?.length ?? 0)
