/** Active runs: dispatched, running or waiting. Page by page in the order of jobs. */
import { useSignal } from '@preact/signals'
import {
  activeStatuses,
  ask,
  count,
  latest,
  mayOperate,
  path,
  type Run,
  type RunPage,
  useHeld,
  useResource,
} from '../model/index.ts'
import {
  Empty,
  Heading,
  isSearched,
  Loading,
  OperationBar,
  Pages,
  Problem,
  RunBulk,
  RunTable,
  SearchForm,
  wantedOf,
} from '../parts/index.ts'

const jobsPerPage = 100
const fields = [
  { name: 'state', label: 'Status', choices: activeStatuses },
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
] as const

export function RunsView({ query }: { query: URLSearchParams }) {
  const key = query.toString()
  const list = useResource(key, (signal) => pageOf(query, signal))
  const { value, problem } = list
  const page = value.value
  return (
    <>
      <Heading title="Runs">
        <ActiveRuns />
      </Heading>
      <OperationBar />
      <SearchForm key={key} label="Runs" href="/runs" fields={fields} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="runs" />}
      {page?.runs.length === 0 && page.cursor === null && (
        <Empty>
          {isSearched(fields, query) ? 'No matching active runs.' : 'No active runs.'} Finished runs are in the{' '}
          <a href="/history">history</a>.
        </Empty>
      )}
      {page !== undefined && page.runs.length > 0 && (
        <RunsOf key={key} runs={inOrder(page.runs)} filter={wantedOf(fields, query)} changed={() => list.refresh()} />
      )}
      {page !== undefined && <Pages href="/runs" query={query} cursor={page.cursor} shown={page.runs.length} />}
    </>
  )
}

interface RunsOfProps {
  runs: readonly Run[]
  filter: Record<string, string>
  changed: () => Promise<void>
}

function RunsOf({ runs, filter, changed }: RunsOfProps) {
  const held = useHeld(runs, ({ runId }) => runId)
  const chosen = useSignal<ReadonlySet<string>>(new Set())
  const choose = (runId: string, wanted: boolean): void => {
    const next = new Set(chosen.value)
    if (wanted) next.add(runId)
    else next.delete(runId)
    chosen.value = next
  }
  const chooseAll = (all: boolean): void => {
    chosen.value = new Set(all ? runs.map(({ runId }) => runId) : [])
  }
  // A run that has ended meanwhile is no longer selected.
  const selected = runs.filter(({ runId }) => chosen.value.has(runId))
  const may = mayOperate.value
  return (
    <>
      {may && <RunBulk {...{ runs, selected, chooseAll, filter }} changed={() => held.releaseAfter(changed())} />}
      <div {...held.hover}>
        <RunTable
          runs={held.items}
          named
          isGone={held.isGone}
          changed={() => held.releaseAfter(changed())}
          {...(may && { choice: { chosen: chosen.value, choose } })}
        />
      </div>
    </>
  )
}

/** Sends requests until runs are found or all jobs were searched. */
async function pageOf(query: URLSearchParams, signal: AbortSignal): Promise<RunPage> {
  let cursor = query.get('cursor') ?? undefined
  for (;;) {
    const wanted = { ...wantedOf(fields, query), limit: jobsPerPage, cursor }
    const page = await ask<RunPage>(path(['runs'], wanted), { signal })
    if (page.runs.length > 0 || page.cursor === null) return page
    cursor = page.cursor
  }
}

/** Running runs first, then dispatched, waiting and retrying ones; each group by due time. */
function inOrder(runs: readonly Run[]): Run[] {
  const rank = (run: Run): number => ['RUNNING', 'DISPATCHED', 'WAITING', 'RETRY_WAIT'].indexOf(run.status)
  const due = (run: Run): number => Date.parse(run.dueAt ?? run.scheduledFor)
  return runs.toSorted((a, b) => rank(a) - rank(b) || due(a) - due(b))
}

function ActiveRuns() {
  const sum = { dispatched: 0, running: 0, waiting: 0 }
  for (const { underWay } of latest.value?.partitions ?? []) {
    sum.dispatched += underWay.dispatched
    sum.running += underWay.running
    sum.waiting += underWay.waiting
  }
  return (
    <p class="beside">
      Now {count(sum.running)} running, {count(sum.dispatched)} dispatched, {count(sum.waiting)} waiting.
    </p>
  )
}
