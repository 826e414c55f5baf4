/** One run: its input and result, its attempts with their errors, and what led to it and follows from it. */
import { writeJson } from '../../../../streams/text/index.ts'
import {
  api,
  count,
  duration,
  isActive,
  isStarted,
  jobHref,
  lateMsOf,
  type Run,
  type RunDetail,
  runHref,
  targetWords,
  triggerWords,
  useResource,
  visible,
  waitWords,
} from '../model/index.ts'
import {
  Answer,
  Attempts,
  Code,
  CodeBlock,
  Empty,
  Fact,
  Heading,
  InputBlocks,
  JobLink,
  RunButtons,
  RunLink,
  RunLogs,
  RunProgress,
  Section,
  Status,
  Text,
  When,
} from '../parts/index.ts'

export function RunView({ jobId, runNo }: { jobId: string; runNo: number }) {
  const run = useResource(`${jobId}/${runNo}`, (signal) => api.getRun({ jobId, runNo, signal }))
  const { value, problem } = run
  const known = value.value
  const title = (
    <>
      <Code of={jobId} /> run {runNo}
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
        <Answer of={run} what="the run">
          {(detail) => <Details run={detail} />}
        </Answer>
      )}
    </>
  )
}

function Actions({ run, changed }: { run: RunDetail; changed: () => Promise<void> }) {
  const { jobId, runNo, lastRunNo, redrivable } = run
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
      <RunButtons run={run} redrivable={redrivable} changed={changed} />
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
      <Section id="attempts" title="Attempts">
        <Attempts run={run} />
        <Stack run={run} />
      </Section>
      <Section id="log" title="Log">
        <RunLogs jobId={run.jobId} runNo={run.runNo} />
      </Section>
      <div class="halves">
        <Section id="input" title="Input">
          <RunInput run={run} />
        </Section>
        <Section id="result" title="Result">
          <Result run={run} />
        </Section>
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
  const load = (signal: AbortSignal) => api.getRun({ jobId, runNo, input: true, signal })
  return (
    <Answer of={useResource(`${runId} ${status}`, load, false)} what="the input">
      {({ input }) =>
        input == null ? (
          <Empty>
            Not kept. Duelog keeps the input of active and dead runs, and of ended runs whose definition is still in force.
          </Empty>
        ) : (
          <>
            <p class="aside">
              Target <Text of={targetWords(input.target)} />, priority {String(input.priority).toLowerCase()}, definition at
              offset {input.specOffset}
              {input.contentType !== undefined && (
                <>
                  , <Text of={input.contentType} />
                </>
              )}
            </p>
            <InputBlocks runId={runId} input={input} />
          </>
        )
      }
    </Answer>
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

/** When it was due, started and ended, what caused it, and what follows. */
function RunFacts({ run }: { run: RunDetail }) {
  const { trigger, scheduledFor, dueAt, startedAt, finishedAt, onSuccess, onFailure } = run
  const lateMs = lateMsOf(run)
  const waits = waitWords(run)
  const startedMs = isStarted(run) || !isActive(run) ? startedAt : null
  return (
    <dl class="facts">
      {waits !== undefined && (
        <Fact name="Waits">
          {waits} {run.status === 'RETRY_WAIT' && dueAt !== undefined && <When at={dueAt} />}
        </Fact>
      )}
      <Fact name="Scheduled for">{<When at={scheduledFor} />}</Fact>
      <Fact name={run.attempts > 1 ? 'Last attempt late by' : 'Started late by'}>
        {lateMs === undefined ? '—' : duration(lateMs)}
      </Fact>
      <Fact name={run.attempts > 1 ? 'Duration of the last attempt' : 'Duration'}>
        {startedMs === null || finishedAt === null ? '—' : duration(Math.max(0, Date.parse(finishedAt) - Date.parse(startedMs)))}
      </Fact>
      <Fact name="Attempts">{count(run.attempts)}</Fact>
      <Fact name="Ended">{<When at={finishedAt} />}</Fact>
      <Fact name="Cause">
        {triggerWords(trigger)}
        <CausedBy run={run} />
      </Fact>
      {onSuccess.length + onFailure.length > 0 && (
        <Fact name="Follow-ups">
          <Followers when="on success" ids={onSuccess} />
          <Followers when="on failure" ids={onFailure} />
        </Fact>
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
  return <Code of={commandId} class="aside" />
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
