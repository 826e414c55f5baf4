/** All jobs, page by page in the order of their IDs. A long search shows what it has found so far. */
import {
  api,
  count,
  type Given,
  type Job,
  type JobPage,
  mayOperate,
  type OperationAction,
  pathOf,
  useResource,
  useRows,
} from '../model/index.ts'
import {
  Bulk,
  Empty,
  inOrder,
  isSearched,
  JobTable,
  ListView,
  OperationBar,
  Order,
  type Orders,
  searchOf,
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

/** Only the loaded page is in this order. */
const orders: Orders<Job> = [
  ['', 'by ID'],
  [
    'next',
    'next fire first',
    ({ status, nextFireAt }) => (status === 'ACTIVE' && nextFireAt !== null ? -Date.parse(nextFireAt) : -Number.MAX_SAFE_INTEGER),
  ],
  ['last', 'last end first', ({ lastRun }) => Date.parse(lastRun?.finishedAt ?? '') || 0],
  ['dead', 'most dead first', ({ deadRuns }) => deadRuns.length],
]

const actions: readonly [OperationAction, string][] = [
  ['PAUSE', 'Pause'],
  ['RESUME', 'Resume'],
  ['TRIGGER', 'Run'],
  ['CANCEL', 'Cancel'],
  ['DELETE', 'Delete'],
]

interface Shown extends JobPage {
  /** The search continues. */
  searching: boolean
}

export function JobsView({ query }: { query: URLSearchParams }) {
  const search = searchOf(query)
  const key = search.toString()
  const list = useResource<Shown>(key, (signal, tell) => pageOf(search, signal, tell))
  const newJob = (
    <div class="buttons end">
      <a class="button" href="/jobs?new">
        New job
      </a>
    </div>
  )
  return (
    <ListView
      {...{ title: 'Jobs', href: '/jobs', fields, query, of: list, what: 'jobs' }}
      beside={mayOperate.value && newJob}
      above={
        <>
          {query.has('new') && !mayOperate.value && (
            <Empty>Your role may read jobs and not create them. An operator or an admin can.</Empty>
          )}
          <OperationBar />
        </>
      }
      shownOf={({ jobs, searching }) => (searching ? undefined : jobs.length)}
    >
      {(page) => (
        <>
          {page.jobs.length > 0 && (
            <JobsOf key={key} jobs={inOrder(page.jobs, query, orders)} query={query} refresh={() => list.refresh()} />
          )}
          {page.searching && <Searching page={page} />}
          {!page.searching && page.jobs.length === 0 && <NoJobs searched={isSearched(fields, query)} />}
        </>
      )}
    </ListView>
  )
}

function JobsOf({ jobs, query, refresh }: { jobs: readonly Job[]; query: URLSearchParams; refresh: () => Promise<void> }) {
  const rows = useRows(jobs, ({ id }) => id, refresh)
  return (
    <>
      {mayOperate.value && <Bulk of="jobs" actions={actions} {...{ rows, fields, query }} />}
      <Order href="/jobs" query={query} orders={orders} />
      <JobTable rows={rows} />
    </>
  )
}

/** Sends requests until the page is full or all jobs were searched. Each request takes the owners a bounded time. */
async function pageOf(query: URLSearchParams, signal: AbortSignal, tell: (page: Shown) => void): Promise<Shown> {
  const jobs: JobPage['jobs'] = []
  const wanted = wantedOf<Given<'listJobs'>>(fields, query)
  let searched = 0
  let cursor = query.get('cursor') ?? undefined
  for (;;) {
    const page = await api.listJobs({ ...wanted, limit: pageSize - jobs.length, cursor, signal })
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

const firstJob = (): string => `curl -X PUT '${location.origin}${pathOf('putJob', { id: 'hello', wait: 'applied' })}' \\
  -H 'Content-Type: application/json' \\
  -d '{ "schedule": { "everyMs": 5000 }, "target": { "handler": "log" } }'`
