/** All jobs, page by page in the order of their ids. What is looked for stands in the address, so that it can be kept and sent. */
import type { JobPage } from '../answers.ts'
import { JobTable } from '../parts/job-table.tsx'
import { Empty, Heading, Loading, Problem } from '../parts/states.tsx'
import { ask, path } from '../request.ts'
import { useResource } from '../resource.ts'
import { go } from '../routes.ts'
import { count } from '../words.ts'

const pageSize = 50
const statuses = ['ACTIVE', 'PAUSED', 'COMPLETED', 'INVALID'] as const
const filters = ['idPrefix', 'tag', 'handler', 'status'] as const
/** Requests made for one page: a filter that finds little makes the owners look at many jobs, a bounded number each time. */
const requestsMax = 20

export function JobsView({ query }: { query: URLSearchParams }) {
  const key = query.toString()
  const list = useResource(key, (signal) => pageOf(query, signal))
  const { value, problem } = list
  const page = value.value
  const filtered = filters.some((name) => query.has(name))
  return (
    <>
      <Heading title="Jobs" />
      <Filters key={key} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="jobs" />}
      {page !== undefined && page.jobs.length === 0 && <Nothing filtered={filtered} more={page.cursor !== null} />}
      {page !== undefined && page.jobs.length > 0 && <JobTable jobs={page.jobs} changed={() => list.refresh()} />}
      {page !== undefined && <Pages query={query} page={page} />}
    </>
  )
}

/** Asks on while a filter has found nothing yet. */
async function pageOf(query: URLSearchParams, signal: AbortSignal): Promise<JobPage> {
  const jobs: JobPage['jobs'] = []
  let cursor = query.get('cursor') ?? undefined
  for (let requests = 0; requests < requestsMax; requests++) {
    const wanted = Object.fromEntries(filters.map((name) => [name, query.get(name) ?? undefined]))
    const page = await ask<JobPage>(path(['jobs'], { ...wanted, limit: pageSize - jobs.length, cursor }), { signal })
    jobs.push(...page.jobs)
    if (page.cursor === null || jobs.length >= pageSize) return { jobs, cursor: page.cursor }
    cursor = page.cursor
    // Something is better than to wait for a full page.
    if (jobs.length > 0) break
  }
  return { jobs, cursor: cursor ?? null }
}

function Nothing({ filtered, more }: { filtered: boolean; more: boolean }) {
  if (more) return <Empty>Nothing found so far; there are more jobs to look at.</Empty>
  if (filtered)
    return (
      <Empty>No job is like that. Look for the beginning of an id; tags, handlers and statuses are matched as a whole.</Empty>
    )
  return (
    <Empty>
      There are no jobs yet. Write one to the topic of jobs, or <code>PUT /v1/jobs/&lt;id&gt;</code>.
    </Empty>
  )
}

function Filters({ query }: { query: URLSearchParams }) {
  const search = (form: HTMLFormElement, replace = false): void => {
    const wanted = new URLSearchParams()
    for (const name of filters) {
      const text = String(new FormData(form).get(name) ?? '').trim()
      if (text !== '') wanted.set(name, text)
    }
    go(wanted.size === 0 ? '/jobs' : `/jobs?${wanted}`, { replace })
  }
  return (
    <form
      class="filters"
      role="search"
      aria-label="Jobs"
      onSubmit={(event) => {
        event.preventDefault()
        search(event.currentTarget)
      }}
    >
      <label>
        Id begins with
        <input
          name="idPrefix"
          type="search"
          defaultValue={query.get('idPrefix') ?? ''}
          autocomplete="off"
          spellcheck={false}
          class="code"
        />
      </label>
      <label>
        Tag
        <input name="tag" type="search" defaultValue={query.get('tag') ?? ''} autocomplete="off" spellcheck={false} />
      </label>
      <label>
        Handler
        <input name="handler" type="search" defaultValue={query.get('handler') ?? ''} autocomplete="off" spellcheck={false} />
      </label>
      <label>
        Status
        <select
          name="status"
          onChange={(event) => {
            const { form } = event.currentTarget
            if (form !== null) search(form)
          }}
        >
          <option value="">any</option>
          {statuses.map((status) => (
            <option key={status} value={status} selected={query.get('status') === status}>
              {status.toLowerCase()}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Search</button>
      {filters.some((name) => query.has(name)) && <a href="/jobs">Show all</a>}
    </form>
  )
}

function Pages({ query, page }: { query: URLSearchParams; page: JobPage }) {
  const at = (cursor: string | undefined): string => {
    const other = new URLSearchParams(query)
    if (cursor === undefined) other.delete('cursor')
    else other.set('cursor', cursor)
    return other.size === 0 ? '/jobs' : `/jobs?${other}`
  }
  return (
    <nav class="pages" aria-label="Pages of the list">
      <span>{count(page.jobs.length)} on this page</span>
      {query.has('cursor') && <a href={at(undefined)}>First page</a>}
      {query.has('cursor') && (
        <button type="button" class="link" onClick={() => history.back()}>
          Back
        </button>
      )}
      {page.cursor !== null && <a href={at(page.cursor)}>{page.jobs.length === 0 ? 'Look further' : 'Next page'}</a>}
    </nav>
  )
}
