/** All jobs, page by page in the order of their IDs. A long search shows what it has found so far. */
import { useSignal } from '@preact/signals'
import { ask, count, type Job, type JobPage, mayOperate, path, useHeld, useResource } from '../model/index.ts'
import {
  Empty,
  Heading,
  isSearched,
  JobBulk,
  JobTable,
  Loading,
  OperationBar,
  Order,
  Pages,
  Problem,
  SearchForm,
  wantedOf,
} from '../parts/index.ts'

const pageSize = 50
const fields = [
  { name: 'idContains', label: 'ID contains', code: true },
  { name: 'idPrefix', label: 'ID begins with', code: true },
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
  { name: 'status', label: 'Status', choices: ['ACTIVE', 'PAUSED', 'COMPLETED', 'INVALID'] },
] as const

const orders = [
  ['', 'by ID'],
  ['next', 'next fire first'],
  ['last', 'last end first'],
  ['dead', 'most dead first'],
] as const

/** Only the loaded page is in this order. */
function sorted(jobs: readonly Job[], order: string | null): readonly Job[] {
  const end = ({ lastRun }: Job): number => Date.parse(lastRun?.finishedAt ?? '') || 0
  const next = ({ status, nextFireAt }: Job): number =>
    status === 'ACTIVE' && nextFireAt !== null ? Date.parse(nextFireAt) : Number.MAX_SAFE_INTEGER
  if (order === 'next') return jobs.toSorted((a, b) => next(a) - next(b))
  if (order === 'last') return jobs.toSorted((a, b) => end(b) - end(a))
  if (order === 'dead') return jobs.toSorted((a, b) => b.deadRuns.length - a.deadRuns.length)
  return jobs
}

interface Shown extends JobPage {
  /** The search continues. */
  searching: boolean
}

export function JobsView({ query }: { query: URLSearchParams }) {
  const search = new URLSearchParams([...query].filter(([name]) => name !== 'order'))
  const key = search.toString()
  const list = useResource<Shown>(key, (signal, tell) => pageOf(search, signal, tell))
  const { value, problem } = list
  const page = value.value
  return (
    <>
      <Heading title="Jobs">
        {mayOperate.value && (
          <div class="buttons end">
            <a class="button" href="/jobs?new">
              New job
            </a>
          </div>
        )}
      </Heading>
      {query.has('new') && !mayOperate.value && (
        <Empty>Your role may read jobs and not create them. An operator or an admin can.</Empty>
      )}
      <OperationBar />
      <SearchForm key={key} label="Jobs" href="/jobs" fields={fields} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="jobs" />}
      {page !== undefined && page.jobs.length > 0 && (
        <JobsOf
          key={key}
          jobs={sorted(page.jobs, query.get('order'))}
          query={query}
          filter={wantedOf(fields, query)}
          changed={() => list.refresh()}
        />
      )}
      {page?.searching && <Searching page={page} />}
      {page !== undefined && !page.searching && page.jobs.length === 0 && <NoJobs searched={isSearched(fields, query)} />}
      {page !== undefined && !page.searching && (
        <Pages href="/jobs" query={query} cursor={page.cursor} shown={page.jobs.length} />
      )}
    </>
  )
}

interface JobsOfProps {
  jobs: readonly Job[]
  query: URLSearchParams
  filter: Record<string, string>
  changed: () => Promise<void>
}

function JobsOf({ jobs, query, filter, changed }: JobsOfProps) {
  const held = useHeld(jobs, ({ id }) => id)
  // After an action of this list its rows are free, wherever the pointer is.
  const done = (): Promise<void> => held.releaseAfter(changed())
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const selected = jobs.filter(({ id }) => chosen.value.has(id))
  const choose = (id: string, wanted: boolean): void => {
    const next = new Set(chosen.value)
    if (wanted) next.add(id)
    else next.delete(id)
    chosen.value = next
  }
  const chooseAll = (all: boolean): void => {
    chosen.value = new Set(all ? jobs.map(({ id }) => id) : [])
  }
  return (
    <>
      {mayOperate.value && <JobBulk {...{ jobs, selected, chooseAll, filter }} changed={done} />}
      <Order href="/jobs" query={query} orders={orders} />
      <JobTable held={held} changed={done} chosen={chosen.value} choose={choose} />
    </>
  )
}

/** Sends requests until the page is full or all jobs were searched. Each request takes the owners a bounded time. */
async function pageOf(query: URLSearchParams, signal: AbortSignal, tell: (page: Shown) => void): Promise<Shown> {
  const jobs: JobPage['jobs'] = []
  const wanted = wantedOf(fields, query)
  let searched = 0
  let cursor = query.get('cursor') ?? undefined
  for (;;) {
    const page = await ask<JobPage>(path(['jobs'], { ...wanted, limit: pageSize - jobs.length, cursor }), { signal })
    jobs.push(...page.jobs)
    searched += page.searched
    if (page.cursor === null || jobs.length >= pageSize) return { jobs, cursor: page.cursor, searched, searching: false }
    tell({ jobs: [...jobs], cursor: page.cursor, searched, searching: true })
    cursor = page.cursor
  }
}

/** Screen readers announce it once; the changing counts are hidden from them. */
function Searching({ page: { searched, jobs } }: { page: Shown }) {
  return (
    <p class="state searching">
      <span role="status">Searching …</span>{' '}
      <span aria-hidden="true">
        {count(searched)} jobs searched, {count(jobs.length)} found.
      </span>
    </p>
  )
}

function NoJobs({ searched }: { searched: boolean }) {
  if (searched)
    return (
      <Empty>
        No matching jobs. Search by ID finds any part and is case-sensitive; tags, handlers and statuses must match exactly.
      </Empty>
    )
  return (
    <Empty>
      No jobs yet. Create one with New job, or with an HTTP request:
      <code class="block">{firstJob()}</code>
      Or create many from a file: <code>npx duelog jobs apply jobs.yaml</code>.
    </Empty>
  )
}

const firstJob = (): string => `curl -X PUT '${location.origin}/v1/jobs/hello?wait=applied' \\
  -H 'Content-Type: application/json' \\
  -d '{ "schedule": { "everyMs": 5000 }, "target": { "handler": "log" } }'`
