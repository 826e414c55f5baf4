/** The facts of a run: when it was due, started and ended, what caused it, and what follows. */
import {
  count,
  duration,
  isActive,
  isStarted,
  lateMsOf,
  type Run,
  type RunDetail,
  triggerWords,
  waitWords,
} from '../model/index.ts'
import { JobLink, RunLink, Text, When } from '../parts/index.ts'

export function RunFacts({ run }: { run: RunDetail }) {
  const { trigger, scheduledFor, dueAt, startedAt, finishedAt, onSuccess, onFailure } = run
  const lateMs = lateMsOf(run)
  const waits = waitWords(run)
  const startedMs = isStarted(run) || !isActive(run) ? startedAt : null
  return (
    <dl class="facts">
      {waits !== undefined && (
        <div>
          <dt>Waits</dt>
          <dd>
            {waits} {run.status === 'RETRY_WAIT' && dueAt !== undefined && <When at={dueAt} />}
          </dd>
        </div>
      )}
      <div>
        <dt>Scheduled for</dt>
        <dd>
          <When at={scheduledFor} />
        </dd>
      </div>
      <div>
        <dt>{run.attempts > 1 ? 'Last attempt late by' : 'Started late by'}</dt>
        <dd>{lateMs === undefined ? '—' : duration(lateMs)}</dd>
      </div>
      <div>
        <dt>{run.attempts > 1 ? 'Duration of the last attempt' : 'Duration'}</dt>
        <dd>
          {startedMs === null || finishedAt === null
            ? '—'
            : duration(Math.max(0, Date.parse(finishedAt) - Date.parse(startedMs)))}
        </dd>
      </div>
      <div>
        <dt>Attempts</dt>
        <dd>{count(run.attempts)}</dd>
      </div>
      <div>
        <dt>Ended</dt>
        <dd>
          <When at={finishedAt} />
        </dd>
      </div>
      <div>
        <dt>Cause</dt>
        <dd>
          {triggerWords(trigger)}
          <CausedBy run={run} />
        </dd>
      </div>
      {onSuccess.length + onFailure.length > 0 && (
        <div>
          <dt>Follow-ups</dt>
          <dd>
            <Followers when="on success" ids={onSuccess} />
            <Followers when="on failure" ids={onFailure} />
          </dd>
        </div>
      )}
    </dl>
  )
}

/** The id of a follow-up's command names the run before it. */
function CausedBy({ run: { trigger, commandId } }: { run: Run }) {
  if (commandId == null) return null
  const [, jobId, runNo] = (trigger === 'FOLLOW_UP' && /^after:(.+)\/-?\d+\/(\d+)(?:@.*)?$/s.exec(commandId)) || []
  if (jobId !== undefined && runNo !== undefined)
    return (
      <span class="aside">
        after <RunLink jobId={jobId} runNo={Number(runNo)} named />
      </span>
    )
  return (
    <span class="aside code">
      <Text of={commandId} />
    </span>
  )
}

function Followers({ when, ids }: { when: string; ids: readonly string[] }) {
  if (ids.length === 0) return null
  return (
    <span class="aside">
      {when}:{' '}
      {ids.map((id, index) => (
        <>
          {index > 0 && ', '}
          <JobLink key={id} id={id} />
        </>
      ))}
    </span>
  )
}
