/** What an operator does with a job or a run; each says what came of it. */
import { act, confirmed } from './actions.ts'
import type { Commanded, Job, Run } from './answers.ts'
import { ask, path } from './request.ts'
import { counted } from './words.ts'

const command = (parts: (string | number)[]): Promise<Commanded> => ask<Commanded>(path(parts), { method: 'POST', body: {} })

export const runNow = (id: string): Promise<boolean> =>
  act(
    () => command(['jobs', id, 'trigger']),
    (answer) => `Run ${answer?.runId ?? `of ${id}`} was made.`,
  )

export const pause = (id: string): Promise<boolean> =>
  act(
    () => command(['jobs', id, 'pause']),
    () => `${id} is paused: nothing of it fires until it is resumed.`,
  )

export const resume = (id: string): Promise<boolean> =>
  act(
    () => command(['jobs', id, 'resume']),
    () => `${id} fires again.`,
  )

/** False when it was not deleted, or not wanted. */
export async function remove({ id, active, etag }: Job): Promise<boolean> {
  const runs = active.length === 0 ? '' : ` Its ${counted(active.length, 'active run')} will be cancelled.`
  const wanted = await confirmed({
    title: `Delete ${id}?`,
    consequence: `The job and its history of runs go, and nothing of it fires any more.${runs} This cannot be undone.`,
    yes: 'Delete the job',
  })
  if (!wanted) return false
  return act(
    () => ask<undefined>(`${path(['jobs', id])}?wait=applied`, { method: 'DELETE', headers: { 'if-match': etag } }),
    () => `${id} is deleted.`,
  )
}

export async function cancelRun({ jobId, runNo, runId }: Run): Promise<boolean> {
  const wanted = await confirmed({
    title: `Cancel run ${runId}?`,
    consequence: 'Its handler is told to stop, and the run is not tried again. Later occurrences of the job fire as before.',
    yes: 'Cancel the run',
  })
  if (!wanted) return false
  return act(
    () => command(['runs', jobId, runNo, 'cancel']),
    () => `Run ${runId} is cancelled.`,
  )
}

export const redrive = ({ jobId, runNo, runId }: Run): Promise<boolean> =>
  act(
    () => command(['runs', jobId, runNo, 'redrive']),
    (answer) => `Dead run ${runId} is made again as ${answer?.runId ?? 'a new run'}.`,
  )

export const putJob = (id: string, definition: unknown, etag: string): Promise<boolean> =>
  act(
    () =>
      ask<undefined>(`${path(['jobs', id])}?wait=applied`, { method: 'PUT', body: definition, headers: { 'if-match': etag } }),
    () => `${id} is saved.`,
  )
