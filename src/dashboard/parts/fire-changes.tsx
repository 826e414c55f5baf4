/** Fire times that a change of a definition adds, removes and moves, as the owner would compute them. Nothing is written. */
import { writeJson } from '../../../streams/text/index.ts'
import { ask, count, duration, type JobDefinition, type PlannedJob, useResource } from '../model/index.ts'
import { Empty, Loading, Problem } from './states.tsx'
import { When } from './when.tsx'

const horizonMs = 7 * 86_400_000
/** Maximum of listed times of each kind. */
const listed = 5

interface FireChangesProps {
  id: string
  definition: JobDefinition | undefined
}

export function FireChanges({ id, definition }: FireChangesProps) {
  const jobs = [{ ...definition, id }]
  const plan = useResource(
    writeJson(jobs),
    (signal) => ask<{ jobs: PlannedJob[] }>('/v1/jobs/plan', { method: 'POST', body: { jobs, horizonMs }, signal }),
    false,
  )
  const planned = plan.value.value?.jobs[0]
  if (plan.problem.value !== undefined) return <Problem problem={plan.problem.value} />
  if (planned === undefined) return <Loading what="the changes" />
  const { action, problems, reason, fires, warnings } = planned
  if (action === 'INVALID' || action === 'DROPPED')
    return (
      <p class="state bad" role="status">
        This definition would be refused: {problems?.map(({ message }) => message).join(' ') || reason}
      </p>
    )
  if (fires === undefined) return null
  return (
    <Changes
      fires={fires}
      zone={definition?.schedule.timezone}
      notes={[...(reason == null ? [] : [reason]), ...(warnings ?? [])]}
    />
  )
}

interface ChangesProps {
  fires: NonNullable<PlannedJob['fires']>
  zone: string | undefined
  /** Reason and warnings of the plan. */
  notes: readonly string[]
}

function Changes({ fires: { added, removed, moved, kept, until }, zone, notes }: ChangesProps) {
  const none = added.length + removed.length + moved.length === 0
  return (
    <div class="fire-changes">
      <p class="aside">
        Compared until <When at={until} plain /> (at most {duration(horizonMs)}): {count(added.length)} added,{' '}
        {count(removed.length)} removed, {count(moved.length)} moved, {count(kept)} unchanged.
      </p>
      {notes.map((note) => (
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
