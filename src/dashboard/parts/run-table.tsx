/** Table of runs: when they were due, how late they started, how long they took, and their errors. */
import { activeStatuses, cancelRun, duration, jobHref, mayOperate, nowMs, type Run, redrive } from '../model/index.ts'
import { AttemptErrors } from './attempt-errors.tsx'
import { Status } from './status.tsx'
import { Table } from './table.tsx'
import { When } from './when.tsx'

interface RunTableProps {
  runs: readonly Run[]
  changed: () => void
  /** Run numbers that can be redriven. */
  dead?: readonly number[]
  /** Shows the job in each row. */
  named?: boolean
}

export function RunTable({ runs, changed, dead = [], named = false }: RunTableProps) {
  return (
    <Table
      of="runs"
      columns={[
        'Run',
        'Status',
        'Due',
        { title: 'Late by', number: true },
        { title: 'Duration', number: true },
        { title: 'Attempts', number: true },
        'Worker',
        mayOperate.value && { title: 'Actions', unseen: true },
      ]}
      class="runs"
    >
      {runs.map((run) => (
        <Row key={run.runId} run={run} named={named} redrivable={dead.includes(run.runNo)} changed={changed} />
      ))}
    </Table>
  )
}

function Row({ run, named, redrivable, changed }: { run: Run; named: boolean; redrivable: boolean; changed: () => void }) {
  const { jobId, runNo, runId, status, trigger, scheduledFor, dueAt, startedAt, finishedAt, attempts, worker } = run
  const active = activeStatuses.some((known) => known === status)
  const startedMs = startedAt === null ? undefined : Date.parse(startedAt)
  // After a retry only the last start is known, so the lateness of the first start is unknown.
  const lateMs = startedMs === undefined || attempts > 1 ? undefined : Math.max(0, startedMs - Date.parse(dueAt ?? scheduledFor))
  const endMs = finishedAt === null ? nowMs.value : Date.parse(finishedAt)
  return (
    <tr>
      <th scope="row" class="code">
        {named ? <a href={jobHref(jobId)}>{jobId}</a> : null}
        {named ? `/${runNo}` : runNo}
        {trigger !== 'SCHEDULE' && <span class="tags">{trigger.toLowerCase().replace('_', ' ')}</span>}
      </th>
      <td>
        <Status of={status} />
        <Progress run={run} />
        <AttemptErrors errors={run.errors} />
      </td>
      <td>
        <When at={status === 'RETRY_WAIT' ? (dueAt ?? scheduledFor) : scheduledFor} />
      </td>
      <td class="number">{lateMs === undefined ? '—' : duration(lateMs)}</td>
      <td class="number">{startedMs === undefined ? '—' : duration(Math.max(0, endMs - startedMs))}</td>
      <td class="number">{attempts}</td>
      <td class="code">
        <span class="clip" title={worker ?? undefined}>
          {worker ?? '—'}
        </span>
      </td>
      {mayOperate.value && (
        <td>
          <div class="buttons tight">
            {active && (
              <button
                type="button"
                class="risky"
                aria-label={`Cancel run ${runId}`}
                onClick={() => void cancelRun(run).then(changed)}
              >
                Cancel
              </button>
            )}
            {redrivable && (
              <button type="button" aria-label={`Redrive run ${runId}`} onClick={() => void redrive(run).then(changed)}>
                Redrive
              </button>
            )}
          </div>
        </td>
      )}
    </tr>
  )
}

/** Last progress that the handler of a run reported. */
function Progress({ run: { runId, status, progress, message, checkedAt } }: { run: Run }) {
  if (status !== 'RUNNING' || (progress == null && message == null)) return null
  return (
    <span class="progress">
      {progress != null && <progress max={1} value={progress} aria-label={`Progress of run ${runId}`} />}
      {progress != null && <span class="number">{Math.round(progress * 100)} %</span>}
      {message != null && <span class="aside clip">{message}</span>}
      {checkedAt != null && <span class="unseen">last report </span>}
      {checkedAt != null && (
        <span class="unseen">
          <When at={checkedAt} />
        </span>
      )}
    </span>
  )
}
