/** One job: its definition, next fires and runs, and why it did or did not fire. */
import { useSignal } from '@preact/signals'
import {
  ask,
  count,
  draftOf,
  go,
  hasDraft,
  type Job,
  type JobExplanation,
  jobHref,
  jobState,
  keepDraft,
  mayOperate,
  path,
  prettyJson,
  type Run,
  reasonWords,
  scheduleWords,
  targetWords,
  useResource,
  withoutDefaults,
} from '../model/index.ts'
import {
  CheckBox,
  CodeBlock,
  Empty,
  Heading,
  JobActions,
  JobTrends,
  LastChange,
  Loading,
  NextFires,
  Problem,
  Prose,
  Reasons,
  RunLink,
  RunStrip,
  RunTable,
  Status,
  Tags,
  Text,
  useFieldSchemas,
  When,
} from '../parts/index.ts'
import { JobEdit } from './job-edit.tsx'

/** Newest dead runs with a link each. */
const deadRunsShown = 10

interface Shown {
  job: Job
  runs: Run[]
  why: JobExplanation['why']
}

async function load(id: string, signal: AbortSignal): Promise<Shown> {
  const [job, { runs }, { why }] = await Promise.all([
    ask<Job>(path(['jobs', id]), { signal }),
    ask<{ runs: Run[] }>(path(['jobs', id, 'runs']), { signal }),
    ask<JobExplanation>(path(['jobs', id, 'why']), { signal }),
  ])
  return { job, runs: runs.toSorted((a, b) => b.runNo - a.runNo), why }
}

export function JobView({ id, editing }: { id: string; editing: boolean }) {
  const shown = useResource(id, (signal) => load(id, signal))
  const { value, problem } = shown
  const known = value.value
  if (problem.value?.status === 404) {
    return (
      <>
        <Heading title={<Title id={id} />} />
        <Empty>
          No job has this ID. It was deleted or never created. <a href="/jobs">Search for another</a>.
        </Empty>
        {hasDraft(id) && mayOperate.value && (
          <Empty>
            You have changes to it that were not saved.{' '}
            <button type="button" class="link" onClick={() => createAgain(id)}>
              Create it again with them
            </button>
          </Empty>
        )}
      </>
    )
  }
  return (
    <>
      <p class="crumbs">
        <a href="/jobs">Jobs</a>
      </p>
      <Heading title={<Title id={id} />}>
        {known !== undefined && <Status of={jobState(known.job)} />}
        {known !== undefined && mayOperate.value && !editing && (
          <div class="buttons end">
            <JobActions job={known.job} changed={() => shown.refresh()} deleted={() => go('/jobs')} />
          </div>
        )}
      </Heading>
      <Problem problem={problem.value} known={known !== undefined} />
      {known === undefined && problem.value === undefined && <Loading what="the job" />}
      {known !== undefined && editing && !mayOperate.value && (
        <>
          <Empty>
            Your role may read this job and not change it. <a href={jobHref(id)}>Back to the job</a>
          </Empty>
          <CodeBlock label="Definition, read-only" text={definitionText(known.job)} />
        </>
      )}
      {known !== undefined && !editing && hasDraft(id) && mayOperate.value && (
        <Empty>
          You have changes to this job that are not saved. <a href={`${jobHref(id)}?edit`}>Continue editing</a>
        </Empty>
      )}
      {known !== undefined && editing && mayOperate.value && (
        <JobEdit
          job={known.job}
          refresh={() => shown.refresh()}
          done={() => {
            go(jobHref(id), { replace: true })
            void shown.refresh()
          }}
        />
      )}
      {known !== undefined && !editing && <Details {...known} changed={() => shown.refresh()} />}
    </>
  )
}

const definitionText = ({ definition, reason }: Job): string =>
  definition === null ? (reason ?? 'The definition could not be read.') : prettyJson(definition)

function createAgain(id: string): void {
  const draft = draftOf(id)
  keepDraft(id, undefined)
  keepDraft('', draft && { ...draft, id, etag: '' })
  go('/jobs?new')
}

/** What differs from the defaults, or everything. */
function Definition({ job }: { job: Job }) {
  const schemas = useFieldSchemas()
  const all = useSignal(false)
  const { definition } = job
  if (definition === null || schemas === null) return <CodeBlock label="Definition as JSON" text={definitionText(job)} />
  if (schemas === undefined) return <Loading what="the definition" />
  const shown = all.value ? definition : withoutDefaults(definition, schemas)
  return (
    <>
      <CodeBlock label="Definition as JSON" text={prettyJson(shown)} />
      <CheckBox
        class="check"
        checked={all.value}
        set={(checked) => {
          all.value = checked
        }}
      >
        Show fields that have their default
      </CheckBox>
    </>
  )
}

const Title = ({ id }: { id: string }) => (
  <span class="code">
    <Text of={id} />
  </span>
)

function Details({ job, runs, why, changed }: Shown & { changed: () => Promise<void> }) {
  return (
    <>
      <Facts job={job} />
      <section aria-labelledby="why">
        <h2 id="why">Why</h2>
        <Reasons jobId={job.id} why={why} runs={runs} />
      </section>
      <section aria-labelledby="runs">
        <h2 id="runs">Runs</h2>
        {runs.length === 0 ? (
          <Empty>No runs yet.</Empty>
        ) : (
          <>
            <RunStrip runs={runs} />
            <RunTable runs={runs} dead={job.deadRuns} changed={changed} />
          </>
        )}
      </section>
      <section aria-labelledby="trends">
        <h2 id="trends">Trends</h2>
        <JobTrends jobId={job.id} kept={runs} />
      </section>
      <div class="halves">
        <section aria-labelledby="next">
          <h2 id="next">Next fires</h2>
          <NextFires job={job} />
        </section>
        <section aria-labelledby="definition">
          <h2 id="definition">Definition</h2>
          <Definition job={job} />
        </section>
      </div>
    </>
  )
}

function Facts({ job }: { job: Job }) {
  const { definition, nextFireAt, reason } = job
  return (
    <dl class="facts">
      <div>
        <dt>Schedule</dt>
        <dd>
          {definition === null ? '—' : scheduleWords(definition.schedule)}
          {definition?.schedule.timezone !== undefined && <span class="aside">{definition.schedule.timezone}</span>}
        </dd>
      </div>
      <div>
        <dt>Next fire</dt>
        <dd>
          <When at={job.status === 'ACTIVE' ? nextFireAt : null} zone={definition?.schedule.timezone} />
        </dd>
      </div>
      <div>
        <dt>Target</dt>
        <dd>
          {definition === null ? '—' : <Text of={targetWords(definition.target)} />}
          {definition?.target.pool !== undefined && <span class="aside">pool {definition.target.pool}</span>}
        </dd>
      </div>
      {job.backfill !== null && (
        <div>
          <dt>Backfill</dt>
          <dd>
            {count(job.backfill.made)} made, next for <When at={job.backfill.nextAt} zone={definition?.schedule.timezone} />
            <span class="aside">{job.backfill.id}</span>
          </dd>
        </div>
      )}
      {job.followUpsWaiting > 0 && <Count name="Follow-ups that wait" value={job.followUpsWaiting} />}
      <Count name="Succeeded" value={job.succeeded} />
      <Count name="Failed" value={job.failed} />
      <Count name="Skipped" value={job.skipped} />
      <Count name="Cancelled" value={job.cancelled} />
      <DeadRuns job={job} />
      {(definition?.tags?.length ?? 0) > 0 && (
        <div>
          <dt>Tags</dt>
          <dd>
            <Tags tags={definition?.tags ?? []} />
          </dd>
        </div>
      )}
      {mayOperate.value && <LastChange job={job} />}
      {reason !== null && (
        <div>
          <dt>Note</dt>
          <dd>
            <Prose of={reasonWords(reason)} />
          </dd>
        </div>
      )}
    </dl>
  )
}

function Count({ name, value }: { name: string; value: number }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{count(value)}</dd>
    </div>
  )
}

function DeadRuns({ job: { id, deadRuns, deadRunsDropped } }: { job: Job }) {
  if (deadRuns.length + deadRunsDropped === 0) return null
  return (
    <div id="dead" tabIndex={-1}>
      <dt>Dead runs</dt>
      <dd>
        {deadRuns
          .slice(-deadRunsShown)
          .toReversed()
          .map((runNo) => (
            <>
              <RunLink key={runNo} jobId={id} runNo={runNo} />{' '}
            </>
          ))}
        {deadRuns.length > deadRunsShown && (
          <a href={`/dead-letters?${new URLSearchParams({ idPrefix: id })}`}>all {count(deadRuns.length)}</a>
        )}
        {deadRunsDropped > 0 && <span class="aside">{count(deadRunsDropped)} older: no longer kept, cannot be redriven</span>}
      </dd>
    </div>
  )
}
