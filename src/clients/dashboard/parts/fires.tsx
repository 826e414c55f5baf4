/** Next fires of a job, or of a definition that is edited, and the fire times that a change of it adds, removes and moves. Nothing is written. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { writeJson } from '../../../../streams/text/index.ts'
import {
  api,
  count,
  type DueTime,
  duration,
  type Job,
  type JobDefinition,
  type PlannedJob,
  problemFrom,
  type Schedule,
  useResource,
} from '../model/index.ts'
import { Answer, Empty, Problem } from './states.tsx'
import { When } from './text.tsx'

const shown = 8
/** Number of times that a preview shows. */
const firesMax = 5
const previewAfterMs = 300

/** Fires strictly after `from` (epoch ms). Delays and intervals count from it. */
async function preview(schedule: Schedule, from: number | undefined, signal: AbortSignal): Promise<DueTime[]> {
  const body = { schedule, count: shown, ...(from === undefined ? {} : { from }) }
  return (await api.previewSchedule({ body, signal })).fires
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

const isOnce = ({ at, delayMs }: Schedule): boolean => at !== undefined || delayMs !== undefined

function noFiresText({ status, definition }: Job): string {
  if (status === 'PAUSED')
    return 'No fires while the job is paused. When it is resumed, catchUp decides about missed occurrences.'
  if (status === 'INVALID') return 'No fires: the definition cannot be used. Correct it, and the job fires again.'
  if (status !== 'ACTIVE') return `No further fires: the job is ${status.toLowerCase()}.`
  return definition !== null && isOnce(definition.schedule) ? 'No further fires: this job fires once.' : 'No further fires.'
}

/** The owner gives the first fire. The others are computed from the schedule, counted from the first. */
async function firesOf({ nextFireAt, definition }: Job, signal: AbortSignal): Promise<DueTime[]> {
  if (nextFireAt === null || definition === null) return []
  const atMs = Date.parse(nextFireAt)
  const first = { at: nextFireAt, atMs }
  if (isOnce(definition.schedule)) return [first]
  const rest = await preview(definition.schedule, atMs, signal)
  return [first, ...rest.slice(0, shown - 1)]
}

function FireList({ fires, zone }: { fires: readonly DueTime[]; zone: string | undefined }) {
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

export function FirePreview({ definition }: { definition: JobDefinition | undefined }) {
  const shown = useSignal<{ fires: DueTime[]; zone: string | undefined } | undefined>(undefined)
  const problem = useSignal('')
  const schedule = definition?.schedule
  // The key stands for the schedule. What is shown stays in view until the next answer.
  useEffect(() => {
    if (schedule === undefined) return
    const ended = new AbortController()
    const waiting = setTimeout(async () => {
      try {
        shown.value = { fires: await preview(schedule, undefined, ended.signal), zone: schedule.timezone }
        problem.value = ''
      } catch (error) {
        if (!ended.signal.aborted) problem.value = problemFrom(error).message
      }
    }, previewAfterMs)
    return () => {
      clearTimeout(waiting)
      ended.abort()
    }
  }, [JSON.stringify(schedule)])
  if (schedule === undefined) return <Empty>No preview: the definition has no schedule that can be read.</Empty>
  if (problem.value !== '') return <Refused>{problem.value}</Refused>
  if (shown.value === undefined) return <Empty>Loading preview …</Empty>
  if (shown.value.fires.length === 0) return <Empty>Never fires: the schedule has no future time.</Empty>
  return <FireList fires={shown.value.fires.slice(0, firesMax)} zone={shown.value.zone} />
}

const Refused = ({ children }: { children: ComponentChildren }) => (
  <p class="state bad" role="status">
    {children}
  </p>
)

const horizonMs = 7 * 86_400_000
/** Maximum of listed times of each kind. */
const listed = 5

export function FireChanges({ id, definition }: { id: string; definition: JobDefinition | undefined }) {
  const jobs = [{ ...definition, id } as JobDefinition]
  const plan = useResource(writeJson(jobs), (signal) => api.planJobs({ body: { jobs, horizonMs }, signal }), false)
  const zone = definition?.schedule.timezone
  return (
    <Answer of={plan} what="the changes">
      {({ jobs: [planned] }) => {
        if (planned?.action === 'INVALID' || planned?.action === 'DROPPED') {
          const why = planned.problems?.map(({ message }) => message).join(' ') || planned.reason
          return <Refused>This definition would be refused: {why}</Refused>
        }
        return planned && <Changes zone={zone} planned={planned} />
      }}
    </Answer>
  )
}

function Changes({ zone, planned: { fires, reason, warnings = [] } }: { zone: string | undefined; planned: PlannedJob }) {
  if (fires === undefined) return null
  const { added, removed, moved, kept, until } = fires
  const none = added.length + removed.length + moved.length === 0
  return (
    <div class="fire-changes">
      <p class="aside">
        Compared until <When at={until} plain /> (at most {duration(horizonMs)}): {count(added.length)} added,{' '}
        {count(removed.length)} removed, {count(moved.length)} moved, {count(kept)} unchanged.
      </p>
      {[...(reason == null ? [] : [reason]), ...warnings].map((note) => (
        <p key={note} class="warn">
          {note}
        </p>
      ))}
      {none && <Empty>No fire times change.</Empty>}
      <Times title="Added" sign="+" times={added.map((at) => [at])} zone={zone} />
      <Times title="Removed" sign="−" times={removed.map((at) => [at])} zone={zone} />
      <Times title="Moved" sign="→" times={moved.map(({ from, to }) => [from, to])} zone={zone} />
    </div>
  )
}

interface TimesProps {
  title: string
  sign: string
  times: readonly (readonly [at: string, to?: string])[]
  zone: string | undefined
}

function Times({ title, sign, times, zone }: TimesProps) {
  if (times.length === 0) return null
  const more = times.length - listed
  return (
    <section>
      <h3>
        {title} <span class="aside">{count(times.length)}</span>
      </h3>
      <ul class="fires" aria-label={`${title} times`}>
        {times.slice(0, listed).map(([at, to]) => (
          <li key={at} class={title.toLowerCase()}>
            <span aria-hidden="true">{sign}</span> <When at={at} zone={zone} plain={to !== undefined} />
            {to !== undefined && <Shift at={at} to={to} zone={zone} />}
          </li>
        ))}
      </ul>
      {more > 0 && <p class="aside">and {count(more)} more</p>}
    </section>
  )
}

/** The new time and the difference. A difference below 1 s is shown alone, because both times would read the same. */
function Shift({ at, to, zone }: { at: string; to: string; zone: string | undefined }) {
  const shiftMs = Date.parse(to) - Date.parse(at)
  const difference = `${duration(Math.abs(shiftMs))} ${shiftMs < 0 ? 'earlier' : 'later'}`
  if (Math.abs(shiftMs) < 1_000) return <> moves {difference}</>
  return (
    <>
      {' '}
      to <When at={to} zone={zone} plain />, {difference}
    </>
  )
}
