/** One job: its definition, next fires and runs, and why it did or did not fire. */
import { useSignal } from '@preact/signals'
import {
  api,
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
  prettyJson,
  type Run,
  reasonWords,
  scheduleWords,
  setTo,
  targetWords,
  useResource,
  withoutDefaults,
} from '../model/index.ts'
import {
  Answer,
  CheckBox,
  Code,
  CodeBlock,
  Empty,
  Fact,
  Heading,
  JobActions,
  JobTrends,
  LastChange,
  Loading,
  NextFires,
  Prose,
  Reasons,
  RunLink,
  RunStrip,
  RunTable,
  Section,
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
    api.getJob({ id, signal }),
    api.listRuns({ id, signal }),
    api.explainJob({ id, signal }),
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
        <Heading title={<Code of={id} />} />
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
      <Heading title={<Code of={id} />}>
        {known !== undefined && <Status of={jobState(known.job)} />}
        {known !== undefined && mayOperate.value && !editing && (
          <div class="buttons end">
            <JobActions job={known.job} changed={() => shown.refresh()} deleted={() => go('/jobs')} />
          </div>
        )}
      </Heading>
      <Answer of={shown} what="the job">
        {(answer) =>
          editing ? (
            <Editing {...answer} refresh={() => shown.refresh()} />
          ) : (
            <Details {...answer} changed={() => shown.refresh()} />
          )
        }
      </Answer>
    </>
  )
}

function Editing({ job, refresh }: { job: Job; refresh: () => Promise<void> }) {
  const done = (): void => {
    go(jobHref(job.id), { replace: true })
    void refresh()
  }
  if (mayOperate.value) return <JobEdit {...{ job, refresh, done }} />
  return (
    <>
      <Empty>
        Your role may read this job and not change it. <a href={jobHref(job.id)}>Back to the job</a>
      </Empty>
      <CodeBlock label="Definition, read-only" text={definitionText(job)} />
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
      <CheckBox class="check" checked={all.value} set={(checked) => setTo(all, checked)}>
        Show fields that have their default
      </CheckBox>
    </>
  )
}

function Details({ job, runs, why, changed }: Shown & { changed: () => Promise<void> }) {
  return (
    <>
      {hasDraft(job.id) && mayOperate.value && (
        <Empty>
          You have changes to this job that are not saved. <a href={`${jobHref(job.id)}?edit`}>Continue editing</a>
        </Empty>
      )}
      <Facts job={job} />
      <Section id="why" title="Why">
        <Reasons jobId={job.id} why={why} runs={runs} />
      </Section>
      <Section id="runs" title="Runs">
        {runs.length === 0 ? (
          <Empty>No runs yet.</Empty>
        ) : (
          <>
            <RunStrip runs={runs} />
            <RunTable runs={runs} dead={job.deadRuns} changed={changed} />
          </>
        )}
      </Section>
      <Section id="trends" title="Trends">
        <JobTrends jobId={job.id} kept={runs} />
      </Section>
      <div class="halves">
        <Section id="next" title="Next fires">
          <NextFires job={job} />
        </Section>
        <Section id="definition" title="Definition">
          <Definition job={job} />
        </Section>
      </div>
    </>
  )
}

function Facts({ job }: { job: Job }) {
  const { definition, nextFireAt, reason, backfill, followUpsWaiting } = job
  const { timezone } = definition?.schedule ?? {}
  const { tags = [] } = definition ?? {}
  return (
    <dl class="facts">
      <Fact name="Schedule">
        {definition === null ? '—' : scheduleWords(definition.schedule)}
        {timezone !== undefined && <span class="aside">{timezone}</span>}
      </Fact>
      <Fact name="Next fire">
        <When at={job.status === 'ACTIVE' ? nextFireAt : null} zone={timezone} />
      </Fact>
      <Fact name="Target">
        {definition === null ? '—' : <Text of={targetWords(definition.target)} />}
        {definition?.target.pool !== undefined && <span class="aside">pool {definition.target.pool}</span>}
      </Fact>
      {backfill !== null && (
        <Fact name="Backfill">
          {count(backfill.made)} made, next for <When at={backfill.nextAt} zone={timezone} />
          <span class="aside">{backfill.id}</span>
        </Fact>
      )}
      {followUpsWaiting > 0 && <Fact name="Follow-ups that wait">{count(followUpsWaiting)}</Fact>}
      <Fact name="Succeeded">{count(job.succeeded)}</Fact>
      <Fact name="Failed">{count(job.failed)}</Fact>
      <Fact name="Skipped">{count(job.skipped)}</Fact>
      <Fact name="Cancelled">{count(job.cancelled)}</Fact>
      <DeadRuns job={job} />
      {tags.length > 0 && <Fact name="Tags">{<Tags tags={tags} />}</Fact>}
      {mayOperate.value && <LastChange job={job} />}
      {reason !== null && <Fact name="Note">{<Prose of={reasonWords(reason)} />}</Fact>}
    </dl>
  )
}

function DeadRuns({ job: { id, deadRuns, deadRunsDropped } }: { job: Job }) {
  if (deadRuns.length + deadRunsDropped === 0) return null
  const newest = deadRuns.slice(-deadRunsShown).toReversed()
  return (
    <Fact name="Dead runs" id="dead">
      {newest.map((runNo) => (
        <>
          <RunLink key={runNo} jobId={id} runNo={runNo} />{' '}
        </>
      ))}
      {deadRuns.length > deadRunsShown && (
        <a href={`/dead-letters?${new URLSearchParams({ idPrefix: id })}`}>all {count(deadRuns.length)}</a>
      )}
      {deadRunsDropped > 0 && <span class="aside">{count(deadRunsDropped)} older: no longer kept, cannot be redriven</span>}
    </Fact>
  )
}
