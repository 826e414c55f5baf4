/** Table of jobs with their actions. */
import {
  type Held,
  type Job,
  jobHref,
  jobState,
  mayOperate,
  scheduleWords,
  targetWords,
  visible,
  waitWords,
} from '../model/index.ts'
import { JobRowActions } from './job-actions.tsx'
import { Status } from './status.tsx'
import { Table } from './table.tsx'
import { JobLink, Text } from './text.tsx'
import { When } from './when.tsx'

interface JobTableProps {
  held: Held<Job>
  changed: () => Promise<void>
  /** Ids of the selected jobs. */
  chosen: ReadonlySet<string>
  choose: (id: string, wanted: boolean) => void
}

export function JobTable({ held, changed, chosen, choose }: JobTableProps) {
  return (
    <div {...held.hover}>
      <Table
        of="jobs"
        columns={[
          mayOperate.value && { title: 'Select', unseen: true, width: '28px' },
          'Job',
          { title: 'Status', width: '104px' },
          { title: 'Schedule', width: '13%' },
          { title: 'Next fire', width: 'max(134px, 14%)' },
          { title: 'Last run', width: 'max(138px, 14%)' },
          { title: 'Target', width: '10%', wideOnly: true },
          mayOperate.value && { title: 'Actions', unseen: true, width: '166px' },
        ]}
        class="jobs"
      >
        {held.items.map((job) => (
          <Row key={job.id} job={job} changed={changed} chosen={chosen.has(job.id)} choose={choose} />
        ))}
      </Table>
    </div>
  )
}

interface RowProps {
  job: Job
  changed: () => Promise<void>
  chosen: boolean
  choose: (id: string, wanted: boolean) => void
}

function Row({ job, changed, chosen, choose }: RowProps) {
  const { id, status, reason, definition, nextFireAt, lastRun, active, deadRuns } = job
  return (
    <tr>
      {mayOperate.value && (
        <td>
          <input
            type="checkbox"
            checked={chosen}
            aria-label={`Select ${visible(id)}`}
            onChange={(event) => choose(id, event.currentTarget.checked)}
          />
        </td>
      )}
      <th scope="row">
        <JobLink id={id} />
        <Tags tags={definition?.tags ?? []} />
      </th>
      <td>
        <Status of={jobState(job)} id={id} />
        {status === 'INVALID' && reason !== null && (
          <span class="aside clip" title={visible(reason)}>
            <Text of={reason} />
          </span>
        )}
      </td>
      <td>
        {definition !== null && (
          <span class="clip" title={scheduleWords(definition.schedule)}>
            {scheduleWords(definition.schedule)}
          </span>
        )}
        {definition?.schedule.timezone !== undefined && <span class="aside">{definition.schedule.timezone}</span>}
      </td>
      <td>
        <When at={status === 'ACTIVE' ? nextFireAt : null} zone={definition?.schedule.timezone} />
      </td>
      <td>
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
      </td>
      <td class="wide-only">
        <span class="clip" title={definition === null ? undefined : visible(targetWords(definition.target))}>
          {definition !== null && <Text of={targetWords(definition.target)} />}
        </span>
        {definition?.target.pool !== undefined && definition.target.pool !== 'default' && (
          <span class="aside clip">pool {definition.target.pool}</span>
        )}
      </td>
      {mayOperate.value && (
        <td>
          <div class="buttons tight">
            <JobRowActions job={job} changed={changed} deleted={changed} />
          </div>
        </td>
      )}
    </tr>
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
