/** Table of jobs with their actions. */
import {
  type Job,
  jobHref,
  mayOperate,
  pause,
  remove,
  resume,
  runNow,
  scheduleWords,
  targetWords,
  visible,
} from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { Status } from './status.tsx'
import { Table } from './table.tsx'
import { JobLink } from './text.tsx'
import { When } from './when.tsx'

export function JobTable({ jobs, changed }: { jobs: readonly Job[]; changed: () => Promise<void> }) {
  return (
    <Table
      of="jobs"
      columns={[
        'Job',
        'Status',
        'Schedule',
        'Next fire',
        'Last run',
        'Target',
        mayOperate.value && { title: 'Actions', unseen: true },
      ]}
      class="jobs"
    >
      {jobs.map((job) => (
        <Row key={job.id} job={job} changed={changed} />
      ))}
    </Table>
  )
}

function Row({ job, changed }: { job: Job; changed: () => Promise<void> }) {
  const { id, status, reason, definition, nextFireAt, lastRun, active, deadRuns } = job
  return (
    <tr>
      <th scope="row">
        <JobLink id={id} />
        {(definition?.tags?.length ?? 0) > 0 && <span class="tags">{definition?.tags?.join(' · ')}</span>}
      </th>
      <td>
        <Status of={status} />
        {status === 'INVALID' && <span class="aside clip">{reason}</span>}
      </td>
      <td>
        {definition !== null && <span class="clip">{scheduleWords(definition.schedule)}</span>}
        {definition?.schedule.timezone !== undefined && <span class="aside">{definition.schedule.timezone}</span>}
      </td>
      <td>
        <When at={nextFireAt} zone={definition?.schedule.timezone} />
      </td>
      <td>
        {active.length > 0 && <span class="status busy">{active.length} active</span>}
        {active.length === 0 && lastRun !== null && (
          <>
            <Status of={lastRun.status} /> <When at={lastRun.finishedAt} brief />
          </>
        )}
        {active.length === 0 && lastRun === null && <span class="none">never</span>}
        {deadRuns.length > 0 && <span class="aside bad">{deadRuns.length} dead</span>}
      </td>
      <td>
        <span class="clip" title={definition === null ? undefined : targetWords(definition.target)}>
          {definition === null ? '' : targetWords(definition.target)}
        </span>
        {definition?.target.pool !== undefined && definition.target.pool !== 'default' && (
          <span class="aside clip">pool {definition.target.pool}</span>
        )}
      </td>
      {mayOperate.value && (
        <td>
          <div class="buttons tight">
            <JobActions job={job} changed={changed} deleted={changed} />
          </div>
        </td>
      )}
    </tr>
  )
}

interface JobActionsProps {
  job: Job
  changed: () => Promise<void>
  deleted: () => Promise<void> | void
}

/** The label of each button names the job, for screen readers. */
export function JobActions({ job, changed, deleted }: JobActionsProps) {
  const { id, status } = job
  const name = visible(id)
  const then = async (done: Promise<boolean>, next: () => Promise<void> | void = changed): Promise<void> => {
    if (await done) await next()
  }
  return (
    <>
      <ActionButton label={`Run now: ${name}`} run={() => then(runNow(id))}>
        Run now
      </ActionButton>
      {status === 'PAUSED' ? (
        <ActionButton label={`Resume ${name}`} run={() => then(resume(id))}>
          Resume
        </ActionButton>
      ) : (
        <ActionButton label={`Pause ${name}`} disabled={status !== 'ACTIVE'} run={() => then(pause(id))}>
          Pause
        </ActionButton>
      )}
      <a class="button" href={`${jobHref(id)}?edit`} aria-label={`Edit ${name}`}>
        Edit
      </a>
      <ActionButton class="risky" label={`Delete ${name}`} run={() => then(remove(job), deleted)}>
        Delete
      </ActionButton>
    </>
  )
}
