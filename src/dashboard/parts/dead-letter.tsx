/** One dead letter. Its details are loaded when it is opened. */
import { useSignal } from '@preact/signals'
import { writeJson } from '../../../streams/text/index.ts'
import {
  ask,
  counted,
  type DeadLetter as DeadLetterAnswer,
  mayOperate,
  operate,
  path,
  type Run,
  redrive,
  targetWords,
  useResource,
  visible,
} from '../model/index.ts'
import { ActionButton } from './action-button.tsx'
import { AttemptErrors } from './attempt-errors.tsx'
import { Loading, Problem } from './states.tsx'
import { ClampedText, CodeBlock, JobLink, RunLink, Text } from './text.tsx'
import { When } from './when.tsx'

interface DeadLetterProps {
  run: Run
  chosen: boolean
  /** `toHere`: with all between the one that was clicked before and this one. */
  choose: (wanted: boolean, toHere: boolean) => void
  changed: () => Promise<void>
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
          aria-label={`Select run ${visible(runId)}`}
          onClick={(event) => choose(event.currentTarget.checked, event.shiftKey)}
        />
      )}
      <div class="letter-text">
        <p class="letter-head">
          <JobLink id={jobId} /> run <RunLink jobId={jobId} runNo={runNo} />
          <span class="aside">
            failed {finishedAt !== null && <When at={finishedAt} plain />} after {attempts}{' '}
            {attempts === 1 ? 'attempt' : 'attempts'}
          </span>
        </p>
        {last !== undefined && (
          <p>
            <span class="code bad">
              <Text of={last.type} />
            </span>
            : <ClampedText of={last.message} />
          </p>
        )}
        <details
          onToggle={(event) => {
            open.value = event.currentTarget.open
          }}
        >
          <summary>Errors and payload</summary>
          {open.value && <Details run={run} />}
        </details>
      </div>
      {mayOperate.value && (
        <div class="buttons tight">
          <ActionButton label={`Redrive run ${visible(runId)}`} run={() => redrive(run).then(changed)}>
            Redrive
          </ActionButton>
          <ActionButton
            class="risky"
            label={`Discard run ${visible(runId)}`}
            run={() => operate({ action: 'DISCARD', runIds: [runId] }).then(changed)}
          >
            Discard
          </ActionButton>
        </div>
      )}
    </li>
  )
}

/** The run's own payload and target, which a redrive uses again; the job's definition may have changed since. */
function Details({ run }: { run: Run }) {
  const { jobId, runNo, runId, errors, attempts, scheduledFor } = run
  const { value, problem } = useResource(
    runId,
    (signal) => ask<DeadLetterAnswer>(path(['dead-letters', jobId, runNo]), { signal }),
    false,
  )
  const execution = value.value?.execution
  return (
    <div class="inside">
      <AttemptErrors run={run} open />
      {errors.length < attempts && (
        <p class="aside">
          {errors.length > 0 && `Showing errors of the last ${errors.length} of ${counted(attempts, 'attempt')}; `}
          {errors.length > 0
            ? 'earlier errors are in the topic execution-events.'
            : 'Its errors are in the topic executions.dlq.'}
        </p>
      )}
      <Problem problem={problem.value} />
      {execution === undefined && problem.value === undefined && <Loading what="the payload" />}
      {execution !== undefined && (
        <>
          <p class="aside">
            Scheduled for <When at={scheduledFor} plain />; target <Text of={targetWords(execution.target)} />; definition at
            offset {execution.specOffset}
            {execution.contentType !== undefined && (
              <>
                ; <Text of={execution.contentType} />
              </>
            )}
            . Payload of this run:
          </p>
          <CodeBlock label={`Payload of run ${visible(runId)}`} text={payloadText(execution.payload, execution.payloadBase64)} />
          {Object.keys(execution.headers).length > 0 && (
            <CodeBlock label={`Headers of run ${visible(runId)}`} text={JSON.stringify(execution.headers, null, 2)} />
          )}
        </>
      )}
    </div>
  )
}

export function payloadText(payload: unknown, base64: string | undefined): string {
  if (base64 !== undefined) return `base64 ${base64}`
  return payload === undefined ? 'none' : typeof payload === 'string' ? payload : writeJson(payload, 2)
}
