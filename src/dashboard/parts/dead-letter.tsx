/** One dead run: its errors at once, the rest when it is opened. */
import { useSignal } from '@preact/signals'
import type { Job, Run } from '../answers.ts'
import { redrive } from '../job-commands.ts'
import { ask, path } from '../request.ts'
import { useResource } from '../resource.ts'
import { jobHref } from '../routes.ts'
import { mayOperate } from '../session.ts'
import { targetWords } from '../words.ts'
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
            given up <When at={finishedAt} /> after {attempts} {attempts === 1 ? 'attempt' : 'attempts'}
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

function Inside({ run: { jobId, errors } }: { run: Run }) {
  const { value, problem } = useResource(`payload of ${jobId}`, (signal) => ask<Job>(path(['jobs', jobId]), { signal }), false)
  const definition = value.value?.definition
  return (
    <div class="inside">
      <AttemptErrors errors={errors} open />
      <Problem problem={problem.value} />
      {value.value === undefined && problem.value === undefined && <Loading what="the definition" />}
      {definition != null && (
        <>
          <p class="aside">Target {targetWords(definition.target)}; payload of the definition that is in force now:</p>
          <pre tabIndex={0} role="region" aria-label={`Payload of ${jobId}`}>
            {payloadText(definition.payload, definition.payloadBase64)}
          </pre>
        </>
      )}
    </div>
  )
}

function payloadText(payload: unknown, base64: string | undefined): string {
  if (base64 !== undefined) return `base64 ${base64}`
  return payload === undefined ? 'none' : typeof payload === 'string' ? payload : JSON.stringify(payload, null, 2)
}
