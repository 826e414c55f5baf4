/** One dead run: its errors at once, the rest when it is opened. */
import { useSignal } from '@preact/signals'
import { writeJson } from '../../../streams/text/index.ts'
import {
  ask,
  counted,
  type DeadLetter as DeadLetterAnswer,
  jobHref,
  mayOperate,
  path,
  type Run,
  redrive,
  targetWords,
  useResource,
} from '../model/index.ts'
import { AttemptErrors } from './attempt-errors.tsx'
import { Loading, Problem } from './states.tsx'
import { When } from './when.tsx'

interface DeadLetterProps {
  run: Run
  chosen: boolean
  choose: (wanted: boolean) => void
  changed: () => void
}

export function DeadLetter({ run, chosen, choose, changed }: DeadLetterProps) {
  const { runId, runNo, jobId, finishedAt, attempts, errors } = run
  const open = useSignal(false)
  const last = errors.at(-1)
  return (
    <li class="letter">
      {mayOperate.value && (
        <input
          type="checkbox"
          checked={chosen}
          aria-label={`Select run ${runId}`}
          onChange={(event) => choose(event.currentTarget.checked)}
        />
      )}
      <div class="letter-text">
        <p class="letter-head">
          <a href={jobHref(jobId)} class="code">
            {jobId}
          </a>
          <span class="code">/{runNo}</span>
          <span class="aside">
            given up {finishedAt !== null && <When at={finishedAt} plain />} after {attempts}{' '}
            {attempts === 1 ? 'attempt' : 'attempts'}
          </span>
        </p>
        {last !== undefined && (
          <p>
            <span class="code bad">{last.type}</span>: {last.message}
          </p>
        )}
        <details
          onToggle={(event) => {
            open.value = event.currentTarget.open
          }}
        >
          <summary>Errors and payload</summary>
          {open.value && <Inside run={run} />}
        </details>
      </div>
      {mayOperate.value && (
        <div class="buttons tight">
          <button type="button" aria-label={`Redrive run ${runId}`} onClick={() => void redrive(run).then(changed)}>
            Redrive
          </button>
        </div>
      )}
    </li>
  )
}

/** What the run was given, which is what a redrive gives it again; the job's definition may be another one by now. */
function Inside({ run: { jobId, runNo, runId, errors, attempts, scheduledFor } }: { run: Run }) {
  const { value, problem } = useResource(
    runId,
    (signal) => ask<DeadLetterAnswer>(path(['dead-letters', jobId, runNo]), { signal }),
    false,
  )
  const given = value.value?.execution
  return (
    <div class="inside">
      <AttemptErrors errors={errors} open />
      {errors.length < attempts && (
        <p class="aside">
          {errors.length > 0 && `Errors of the last ${errors.length} of ${counted(attempts, 'attempt')}; `}
          {errors.length > 0 ? 'earlier ones are in execution-events.' : 'Its errors are in executions.dlq.'}
        </p>
      )}
      <Problem problem={problem.value} />
      {given === undefined && problem.value === undefined && <Loading what="what the run was given" />}
      {given !== undefined && (
        <>
          <p class="aside">
            Scheduled for <When at={scheduledFor} plain />; target {targetWords(given.target)}; made from the definition at offset{' '}
            {given.specOffset}
            {given.contentType !== undefined && <>; {given.contentType}</>}. Its own payload:
          </p>
          <pre tabIndex={0} role="region" aria-label={`Payload of run ${runId}`}>
            {payloadText(given.payload, given.payloadBase64)}
          </pre>
          {Object.keys(given.headers).length > 0 && (
            <pre tabIndex={0} role="region" aria-label={`Headers of run ${runId}`}>
              {JSON.stringify(given.headers, null, 2)}
            </pre>
          )}
        </>
      )}
    </div>
  )
}

function payloadText(payload: unknown, base64: string | undefined): string {
  if (base64 !== undefined) return `base64 ${base64}`
  return payload === undefined ? 'none' : typeof payload === 'string' ? payload : writeJson(payload, 2)
}
