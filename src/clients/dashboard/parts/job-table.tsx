/** Table of jobs with their actions. */
import {
  type Job,
  jobHref,
  jobState,
  mayOperate,
  type Rows,
  type Schedule,
  scheduleWords,
  type Target,
  targetWords,
  visible,
  waitWords,
} from '../model/index.ts'
import { JobRowActions } from './job-actions.tsx'
import { Status } from './states.tsx'
import { column, head, Table } from './table.tsx'
import { JobLink, Text, When } from './text.tsx'

export function JobTable({ rows }: { rows: Rows<Job> }) {
  return (
    <div {...rows.hover}>
      <Table of="jobs" columns={columnsOf(rows)} rows={rows.shown} keyOf={({ id }) => id} class="jobs" />
    </div>
  )
}

const columnsOf = ({ chosen, choose, changed }: Rows<Job>) => [
  mayOperate.value &&
    column<Job>(
      'Select',
      ({ id }) => (
        <input
          type="checkbox"
          checked={chosen.has(id)}
          aria-label={`Select ${visible(id)}`}
          onChange={(event) => choose(id, event.currentTarget.checked)}
        />
      ),
      { unseen: true, width: '28px' },
    ),
  head<Job>('Job', ({ id, definition }) => (
    <>
      <JobLink id={id} />
      <Tags tags={definition?.tags ?? []} />
    </>
  )),
  column<Job>('Status', (job) => <State job={job} />, { width: '104px' }),
  column<Job>('Schedule', ({ definition }) => definition !== null && <Fires {...definition.schedule} />, { width: '13%' }),
  column<Job>(
    'Next fire',
    ({ status, nextFireAt, definition }) => (
      <When at={status === 'ACTIVE' ? nextFireAt : null} zone={definition?.schedule.timezone} />
    ),
    { width: 'max(134px, 14%)' },
  ),
  column<Job>('Last run', (job) => <LastRun job={job} />, { width: 'max(138px, 14%)' }),
  column<Job>('Target', ({ definition }) => definition !== null && <Runs {...definition.target} />, {
    ...{ width: '10%', wideOnly: true },
  }),
  mayOperate.value &&
    column<Job>(
      'Actions',
      (job) => (
        <div class="buttons tight">
          <JobRowActions job={job} changed={changed} deleted={changed} />
        </div>
      ),
      { unseen: true, width: '166px' },
    ),
]

function State({ job }: { job: Job }) {
  const { id, status, reason } = job
  return (
    <>
      <Status of={jobState(job)} id={id} />
      {status === 'INVALID' && reason !== null && (
        <span class="aside clip" title={visible(reason)}>
          <Text of={reason} />
        </span>
      )}
    </>
  )
}

function Fires(schedule: Schedule) {
  const words = scheduleWords(schedule)
  return (
    <>
      <span class="clip" title={words}>
        {words}
      </span>
      {schedule.timezone !== undefined && <span class="aside">{schedule.timezone}</span>}
    </>
  )
}

function Runs(target: Target) {
  const words = targetWords(target)
  return (
    <>
      <span class="clip" title={visible(words)}>
        <Text of={words} />
      </span>
      {target.pool !== undefined && target.pool !== 'default' && <span class="aside clip">pool {target.pool}</span>}
    </>
  )
}

function LastRun({ job: { id, active, lastRun, deadRuns } }: { job: Job }) {
  return (
    <>
      {active.length > 0 && <Active active={active} />}
      {active.length === 0 && lastRun !== null && (
        <span class="clip">
          <Status of={lastRun.status} /> <When at={lastRun.finishedAt} brief />
        </span>
      )}
      {active.length === 0 && lastRun === null && <span class="none">never</span>}
      {deadRuns.length > 0 && (
        <a class="aside bad" href={`${jobHref(id)}#dead`}>
          {deadRuns.length} dead
        </a>
      )}
    </>
  )
}

export function Tags({ tags }: { tags: readonly string[] }) {
  if (tags.length === 0) return null
  return (
    <span class="tags">
      {tags.map((tag, index) => (
        <span key={tag}>
          {index > 0 && ' · '}
          <a href={`/jobs?tag=${encodeURIComponent(tag)}`}>
            <Text of={tag} />
          </a>
        </span>
      ))}
    </span>
  )
}

/** One status if all active runs have the same, with what they wait for. */
function Active({ active }: { active: Job['active'] }) {
  const [first] = active
  const waits = first === undefined ? undefined : waitWords(first)
  if (first === undefined || active.some(({ status }) => status !== first.status))
    return <span class="status busy">{active.length} active</span>
  const text = `${active.length > 1 ? `${active.length} runs ` : ''}${waits ?? ''}`
  return (
    <span class="clip" title={text}>
      <Status of={first.status} /> <span class="brief">{text}</span>
    </span>
  )
}
