/** Next fires of a job, in the viewer's and the job's time zone, with notes on clock changes. */
import { ask, type DueTime, type Job, type Schedule, useResource } from '../model/index.ts'
import { Empty, Problem } from './states.tsx'
import { When } from './when.tsx'

const shown = 8

/** Fires strictly after `from` (epoch ms). Delays and intervals count from it. */
export async function preview(schedule: Schedule, from: number | undefined, signal?: AbortSignal): Promise<DueTime[]> {
  const body = { schedule, count: shown, ...(from === undefined ? {} : { from }) }
  const { fires } = await ask<{ fires: DueTime[] }>('/v1/schedules/preview', { method: 'POST', body, ...(signal && { signal }) })
  return fires
}

export function NextFires({ job }: { job: Job }) {
  const { nextFireAt, definition } = job
  const fires = useResource(`${job.etag} ${nextFireAt}`, (signal) => firesOf(job, signal), false)
  if (nextFireAt === null || job.status !== 'ACTIVE') return <Empty>{noFiresText(job)}</Empty>
  return (
    <>
      <Problem problem={fires.problem.value} />
      <FireList fires={fires.value.value ?? []} zone={definition?.schedule.timezone} />
    </>
  )
}

function noFiresText({ status, definition }: Job): string {
  if (status === 'PAUSED')
    return 'No fires while the job is paused. When it is resumed, catchUp decides about missed occurrences.'
  if (status === 'INVALID') return 'No fires: the definition cannot be used. Correct it, and the job fires again.'
  if (status !== 'ACTIVE') return `No further fires: the job is ${status.toLowerCase()}.`
  const once = definition?.schedule.at !== undefined || definition?.schedule.delayMs !== undefined
  return once ? 'No further fires: this job fires once.' : 'No further fires.'
}

/** The owner gives the first fire. The others are computed from the schedule, counted from the first. */
async function firesOf({ nextFireAt, definition }: Job, signal: AbortSignal): Promise<DueTime[]> {
  if (nextFireAt === null || definition === null) return []
  const atMs = Date.parse(nextFireAt)
  const first = { at: nextFireAt, atMs }
  if (definition.schedule.at !== undefined || definition.schedule.delayMs !== undefined) return [first]
  const rest = await preview(definition.schedule, atMs, signal)
  return [first, ...rest.slice(0, shown - 1)]
}

export function FireList({ fires, zone }: { fires: readonly DueTime[]; zone: string | undefined }) {
  return (
    <ol class="fires">
      {fires.map(({ at, note }) => (
        <li key={at}>
          <When at={at} zone={zone} />
          {note !== undefined && <span class="aside warn">{note}</span>}
        </li>
      ))}
    </ol>
  )
}
