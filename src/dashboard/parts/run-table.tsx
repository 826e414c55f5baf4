/** Table of runs: when they were due, how late they started, how long they took, and their errors. */
import {
  cancelRun,
  duration,
  isActive,
  isStarted,
  lateMsOf,
  mayOperate,
  nowMs,
  type Run,
  redrive,
  retryNow,
  visible,
  waitWords,
} from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { AttemptErrors } from './attempt-errors.tsx'
import { Status } from './status.tsx'
import { Table } from './table.tsx'
import { RunLink, Text } from './text.tsx'
import { When } from './when.tsx'

interface RunTableProps {
  runs: readonly Run[]
  changed: () => Promise<void>
  /** Run numbers that can be redriven. */
  dead?: readonly number[]
  /** Shows the job in each row. */
  named?: boolean
  /** Whether a run has left the list, and is shown only until the rows may move. */
  isGone?: (run: Run) => boolean
  /** With it each row can be selected: ids of the selected runs, and what a choice does. */
  choice?: { chosen: ReadonlySet<string>; choose: (runId: string, wanted: boolean) => void }
}

export function RunTable({ runs, changed, dead = [], named = false, isGone = () => false, choice }: RunTableProps) {
  return (
    <Table
      of="runs"
      columns={[
        choice !== undefined && { title: 'Select', unseen: true, width: '28px' },
        'Run',
        { title: 'Status', width: '26%' },
        { title: 'Due', width: '17%' },
        { title: 'Late by', number: true, width: '80px' },
        { title: 'Duration', number: true, width: '80px' },
        { title: 'Attempts', number: true, width: '76px' },
        { title: 'Worker', width: '15%', wideOnly: true },
        mayOperate.value && { title: 'Actions', unseen: true, width: '94px' },
      ]}
      class="runs"
    >
      {runs.map((run) => (
        <Row
          key={run.runId}
          {...{ run, named, changed }}
          redrivable={dead.includes(run.runNo)}
          gone={isGone(run)}
          choice={choice}
        />
      ))}
    </Table>
  )
}

interface RowProps {
  run: Run
  named: boolean
  redrivable: boolean
  gone: boolean
  choice: RunTableProps['choice']
  changed: () => Promise<void>
}

function Row({ run, named, redrivable, gone, choice, changed }: RowProps) {
  const { jobId, runNo, status, trigger, scheduledFor, dueAt, startedAt, finishedAt, worker } = run
  const lateMs = lateMsOf(run)
  const startedMs = gone || startedAt === null || (isActive(run) && !isStarted(run)) ? undefined : Date.parse(startedAt)
  const endMs = finishedAt === null ? nowMs.value : Date.parse(finishedAt)
  const waits = waitWords(run)
  return (
    <tr class={gone ? 'gone' : undefined}>
      {choice !== undefined && (
        <td>
          <input
            type="checkbox"
            checked={choice.chosen.has(run.runId)}
            disabled={gone}
            aria-label={`Select run ${visible(run.runId)}`}
            onChange={(event) => choice.choose(run.runId, event.currentTarget.checked)}
          />
        </td>
      )}
      <th scope="row" class="code">
        <RunLink jobId={jobId} runNo={runNo} named={named} />
        {trigger !== 'SCHEDULE' && <span class="tags">{trigger.toLowerCase().replace('_', ' ')}</span>}
      </th>
      <td>
        <span class="clip" title={waits}>
          {gone ? <span class="status">no longer here</span> : <Status of={status} id={run.runId} />}{' '}
          <span class="brief">{gone ? '' : waits}</span>
        </span>
        {!gone && <RunProgress run={run} />}
        <AttemptErrors run={run} />
      </td>
      <td>
        <When at={status === 'RETRY_WAIT' ? (dueAt ?? scheduledFor) : scheduledFor} />
      </td>
      <td class="number">{lateMs === undefined ? '—' : duration(lateMs)}</td>
      <td class="number">{startedMs === undefined ? '—' : duration(Math.max(0, endMs - startedMs))}</td>
      <td class="number">{run.attempts}</td>
      <td class="code wide-only">
        <span class="clip" title={worker === null ? undefined : visible(worker)}>
          {worker === null ? '—' : <Text of={worker} />}
        </span>
      </td>
      {mayOperate.value && (
        <td>
          <RunButtons run={run} redrivable={redrivable} gone={gone} changed={changed} />
        </td>
      )}
    </tr>
  )
}

function RunButtons({ run, redrivable, gone, changed }: Omit<RowProps, 'named' | 'choice'>) {
  const runId = visible(run.runId)
  return (
    <div class="buttons tight">
      {run.status === 'RETRY_WAIT' && !gone && (
        <ActionButton label={`Retry now: run ${runId}`} run={() => retryNow(run).then(changed)}>
          Retry now
        </ActionButton>
      )}
      {isActive(run) && !gone && (
        <ActionButton class="risky" label={`Cancel run ${runId}`} run={() => cancelRun(run).then(changed)}>
          Cancel
        </ActionButton>
      )}
      {redrivable && (
        <ActionButton label={`Redrive run ${runId}`} run={() => redrive(run).then(changed)}>
          Redrive
        </ActionButton>
      )}
    </div>
  )
}

/** Last progress that the handler of a run reported. */
export function RunProgress({ run: { runId, status, progress, message, checkedAt } }: { run: Run }) {
  if (status !== 'RUNNING' || (progress == null && message == null)) return null
  return (
    <span class="progress">
      {progress != null && <progress max={1} value={progress} aria-label={`Progress of run ${visible(runId)}`} />}
      {progress != null && <span class="number">{Math.round(progress * 100)} %</span>}
      {message != null && (
        <span class="aside clip" title={visible(message)}>
          <Text of={message} />
        </span>
      )}
      {checkedAt != null && <span class="unseen">last report </span>}
      {checkedAt != null && (
        <span class="unseen">
          <When at={checkedAt} />
        </span>
      )}
    </span>
  )
}
