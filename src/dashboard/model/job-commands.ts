/** Commands for jobs and runs. Each shows its outcome as a notice. */

import type { BackfillCount, CommandResult, Job, Run } from '../../answers/index.ts'
import { act, confirmed } from './actions.ts'
import { ask, path } from './request.ts'
import { counted } from './words.ts'

const command = (parts: (string | number)[]): Promise<CommandResult> =>
  ask<CommandResult>(path(parts), { method: 'POST', body: {} })

export const runNow = (id: string): Promise<boolean> =>
  act(
    () => command(['jobs', id, 'trigger']),
    (answer) => `Run ${answer?.runId ?? `of ${id}`} created.`,
  )

export const pause = (id: string): Promise<boolean> =>
  act(
    () => command(['jobs', id, 'pause']),
    () => `Paused ${id}. It will not fire until you resume it.`,
  )

export const resume = (id: string): Promise<boolean> =>
  act(
    () => command(['jobs', id, 'resume']),
    () => `Resumed ${id}.`,
  )

/** Resolves with false when the job was not deleted or the user did not confirm. */
export async function remove({ id, active, etag }: Job): Promise<boolean> {
  const runs = active.length === 0 ? '' : ` Its ${counted(active.length, 'active run')} will be cancelled.`
  const wanted = await confirmed({
    title: `Delete ${id}?`,
    consequence: `Deletes the job and its run history. It will not fire again.${runs} This cannot be undone.`,
    yes: 'Delete job',
  })
  if (!wanted) return false
  return act(
    () => ask<undefined>(`${path(['jobs', id])}?wait=applied`, { method: 'DELETE', headers: { 'if-match': etag } }),
    () => `Deleted ${id}.`,
  )
}

export async function cancelRun({ jobId, runNo, runId }: Run): Promise<boolean> {
  const wanted = await confirmed({
    title: `Cancel run ${runId}?`,
    consequence: 'The handler gets a signal to stop, and the run is not retried. Later occurrences of the job fire as usual.',
    yes: 'Cancel run',
    no: 'Keep run',
  })
  if (!wanted) return false
  return act(
    () => command(['runs', jobId, runNo, 'cancel']),
    () => `Cancelled run ${runId}.`,
  )
}

export function retryNow({ jobId, runNo, runId }: Run): Promise<boolean> {
  return act(
    () => command(['runs', jobId, runNo, 'retry']),
    () => `Retried run ${runId}.`,
  )
}

export const skipNext = ({ id, nextFireAt }: Job): Promise<boolean> =>
  act(
    () => ask<CommandResult>(path(['jobs', id, 'skip']), { method: 'POST', body: { at: nextFireAt } }),
    () => `Skipped the next occurrence of ${id}.`,
  )

export async function cancelJob({ id, active }: Job): Promise<boolean> {
  const runs = active.length === 0 ? '' : ` Its ${counted(active.length, 'active run')} will be cancelled.`
  const wanted = await confirmed({
    title: `Cancel job ${id}?`,
    consequence: `The job does not fire again until it gets a new definition.${runs} Its definition and run history stay.`,
    yes: 'Cancel job',
    no: 'Keep job',
  })
  if (!wanted) return false
  return act(
    () => command(['jobs', id, 'cancel']),
    () => `Cancelled job ${id}.`,
  )
}

/** Times in ISO 8601. */
export const countBackfill = (id: string, from: string, to: string): Promise<BackfillCount> =>
  ask<BackfillCount>(path(['jobs', id, 'backfill', 'count']), { method: 'POST', body: { from, to } })

export const cancelBackfill = ({ id, backfill }: Job): Promise<boolean> =>
  act(
    () => command(['jobs', id, 'backfill', 'cancel']),
    () => `Backfill of ${id} ended after ${counted(backfill?.made ?? 0, 'run')}.`,
  )

/** Times in ISO 8601. */
export const backfill = (id: string, from: string, to: string): Promise<boolean> =>
  act(
    () => ask<CommandResult>(path(['jobs', id, 'backfill']), { method: 'POST', body: { from, to } }),
    () => `Backfill of ${id} started.`,
  )

export const redrive = ({ jobId, runNo, runId }: Run): Promise<boolean> =>
  act(
    () => command(['runs', jobId, runNo, 'redrive']),
    (answer) => `Run ${runId} redriven as ${answer?.runId ?? 'a new run'}.`,
  )

export const putJob = (id: string, definition: unknown, etag: string): Promise<boolean> =>
  act(
    () =>
      ask<undefined>(`${path(['jobs', id])}?wait=applied`, { method: 'PUT', body: definition, headers: { 'if-match': etag } }),
    () => `Saved ${id}.`,
  )

/** A job that exists is not changed. */
export const createJob = (id: string, definition: unknown): Promise<boolean> =>
  act(
    () =>
      ask<undefined>(`${path(['jobs', id])}?wait=applied`, {
        method: 'PUT',
        body: definition,
        headers: { 'if-none-match': '*' },
      }),
    () => `Created ${id}.`,
  )
