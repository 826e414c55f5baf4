/** One run: its input and result, its attempts with their errors, and what led to it and follows from it. */
import { writeJson } from '../../../streams/text/index.ts'
import {
  ask,
  cancelRun,
  isActive,
  jobHref,
  mayOperate,
  path,
  type RunDetail,
  redrive,
  retryNow,
  runHref,
  targetWords,
  useResource,
  visible,
} from '../model/index.ts'
import {
  ActionButton,
  Attempts,
  CodeBlock,
  Empty,
  Heading,
  JobLink,
  Loading,
  Problem,
  payloadText,
  RunLogs,
  RunProgress,
  Status,
  Text,
} from '../parts/index.ts'
import { RunFacts } from './run-facts.tsx'

type Input = NonNullable<RunDetail['input']>

export function RunView({ jobId, runNo }: { jobId: string; runNo: number }) {
  const run = useResource(`${jobId}/${runNo}`, (signal) => ask<RunDetail>(path(['runs', jobId, runNo]), { signal }))
  const { value, problem } = run
  const known = value.value
  const title = (
    <>
      <span class="code">
        <Text of={jobId} />
      </span>{' '}
      run {runNo}
    </>
  )
  return (
    <>
      <p class="crumbs">
        <a href="/jobs">Jobs</a> / <JobLink id={jobId} />
      </p>
      <Heading title={title}>
        {known !== undefined && <Status of={known.status} />}
        {known !== undefined && <Actions run={known} changed={() => run.refresh()} />}
      </Heading>
      {problem.value?.status === 404 ? (
        <Gone jobId={jobId} runNo={runNo} detail={problem.value.message} />
      ) : (
        <Problem problem={problem.value} known={known !== undefined} />
      )}
      {known === undefined && problem.value === undefined && <Loading what="the run" />}
      {known !== undefined && <Details run={known} />}
    </>
  )
}

function Actions({ run, changed }: { run: RunDetail; changed: () => Promise<void> }) {
  const { jobId, runNo, lastRunNo, redrivable, runId } = run
  return (
    <div class="buttons end">
      {runNo > 1 && (
        <a class="button" href={runHref(jobId, runNo - 1)} aria-label={`Previous run, ${runNo - 1}`}>
          ← Previous
        </a>
      )}
      {runNo < lastRunNo && (
        <a class="button" href={runHref(jobId, runNo + 1)} aria-label={`Next run, ${runNo + 1}`}>
          Next →
        </a>
      )}
      {mayOperate.value && redrivable && (
        <ActionButton label={`Redrive run ${visible(runId)}`} run={() => redrive(run).then(changed)}>
          Redrive
        </ActionButton>
      )}
      {mayOperate.value && run.status === 'RETRY_WAIT' && (
        <ActionButton label={`Retry now: run ${visible(runId)}`} run={() => retryNow(run).then(changed)}>
          Retry now
        </ActionButton>
      )}
      {mayOperate.value && isActive(run) && (
        <ActionButton class="risky" label={`Cancel run ${visible(runId)}`} run={() => cancelRun(run).then(changed)}>
          Cancel
        </ActionButton>
      )}
    </div>
  )
}

function Gone({ jobId, runNo, detail }: { jobId: string; runNo: number; detail: string }) {
  return (
    <Empty>
      {visible(detail)} <a href={jobHref(jobId)}>Runs that are kept</a> ·{' '}
      <a href={`/history?jobId=${encodeURIComponent(jobId)}`}>History of the job</a>
      {runNo > 1 && (
        <>
          {' '}
          · <a href={runHref(jobId, runNo + 1)}>Next run</a>
        </>
      )}
    </Empty>
  )
}

function Details({ run }: { run: RunDetail }) {
  return (
    <>
      <RunFacts run={run} />
      <section aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        <Attempts run={run} />
        <Stack run={run} />
      </section>
      <section aria-labelledby="log">
        <h2 id="log">Log</h2>
        <RunLogs jobId={run.jobId} runNo={run.runNo} />
      </section>
      <div class="halves">
        <section aria-labelledby="input">
          <h2 id="input">Input</h2>
          <RunInput run={run} />
        </section>
        <section aria-labelledby="result">
          <h2 id="result">Result</h2>
          <Result run={run} />
        </section>
      </div>
    </>
  )
}

/** Only the last error has a stack. */
function Stack({ run: { runId, errors } }: { run: RunDetail }) {
  const stack = errors.at(-1)?.stack
  if (stack == null) return null
  return (
    <details class="errors" open>
      <summary>Stack of the last error</summary>
      <CodeBlock label={`Stack of run ${visible(runId)}`} text={stack} />
    </details>
  )
}

/** Loaded once: it does not change, and may be large. */
function RunInput({ run: { jobId, runNo, runId, status } }: { run: RunDetail }) {
  const { value, problem } = useResource(
    `${runId} ${status}`,
    (signal) => ask<RunDetail>(path(['runs', jobId, runNo], { input: 'true' }), { signal }),
    false,
  )
  const answer = value.value
  if (answer === undefined)
    return problem.value === undefined ? <Loading what="the input" /> : <Problem problem={problem.value} />
  if (answer.input == null)
    return (
      <Empty>
        Not kept. Duelog keeps the input of active and dead runs, and of ended runs whose definition is still in force.
      </Empty>
    )
  return <InputOf runId={runId} input={answer.input} />
}

function InputOf({ runId, input }: { runId: string; input: Input }) {
  const { target, priority, contentType, headers, specOffset } = input
  return (
    <>
      <p class="aside">
        Target <Text of={targetWords(target)} />, priority {String(priority).toLowerCase()}, definition at offset {specOffset}
        {contentType !== undefined && (
          <>
            , <Text of={contentType} />
          </>
        )}
      </p>
      <CodeBlock label={`Payload of run ${visible(runId)}`} text={payloadText(input.payload, input.payloadBase64)} />
      {Object.keys(headers).length > 0 && (
        <CodeBlock label={`Headers of run ${visible(runId)}`} text={JSON.stringify(headers, null, 2)} />
      )}
    </>
  )
}

function Result({ run }: { run: RunDetail }) {
  const { runId, status, result, note } = run
  const none = isActive(run)
    ? 'The run has not ended.'
    : status === 'SUCCEEDED'
      ? 'The handler returned nothing.'
      : 'None: the run did not succeed.'
  return (
    <>
      <RunProgress run={run} />
      {result === null ? (
        <Empty>{note == null ? none : visible(note)}</Empty>
      ) : (
        <CodeBlock label={`Result of run ${visible(runId)}`} text={typeof result === 'string' ? result : writeJson(result, 2)} />
      )}
    </>
  )
}
