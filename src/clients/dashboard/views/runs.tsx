/** Active runs: dispatched, running or waiting. Page by page in the order of jobs. */
import {
  activeStatuses,
  api,
  count,
  type Given,
  latest,
  mayOperate,
  type Run,
  type RunPage,
  underWayOf,
  useResource,
  useRows,
} from '../model/index.ts'
import { Bulk, Empty, isSearched, ListView, OperationBar, RunTable, wantedOf } from '../parts/index.ts'

const jobsPerPage = 100
const fields = [
  { name: 'state', label: 'Status', choices: activeStatuses },
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
] as const

export function RunsView({ query }: { query: URLSearchParams }) {
  const key = query.toString()
  const list = useResource(key, (signal) => pageOf(query, signal))
  return (
    <ListView
      {...{ title: 'Runs', href: '/runs', fields, query, of: list, what: 'runs' }}
      beside={<ActiveRuns />}
      above={<OperationBar />}
      shownOf={({ runs }) => runs.length}
    >
      {({ runs, cursor }) => (
        <>
          {runs.length === 0 && cursor === null && (
            <Empty>
              {isSearched(fields, query) ? 'No matching active runs.' : 'No active runs.'} Finished runs are in the{' '}
              <a href="/history">history</a>.
            </Empty>
          )}
          {runs.length > 0 && <RunsOf key={key} runs={byUrgency(runs)} query={query} refresh={() => list.refresh()} />}
        </>
      )}
    </ListView>
  )
}

function RunsOf({ runs, query, refresh }: { runs: readonly Run[]; query: URLSearchParams; refresh: () => Promise<void> }) {
  const rows = useRows(runs, ({ runId }) => runId, refresh)
  return (
    <>
      {mayOperate.value && <Bulk of="runs" actions={[['CANCEL_RUN', 'Cancel']]} {...{ rows, fields, query }} />}
      <div {...rows.hover}>
        <RunTable runs={rows.shown} named rows={rows} changed={rows.changed} />
      </div>
    </>
  )
}

/** Sends requests until runs are found or all jobs were searched. */
async function pageOf(query: URLSearchParams, signal: AbortSignal): Promise<RunPage> {
  let cursor = query.get('cursor') ?? undefined
  for (;;) {
    const wanted = wantedOf<Given<'listActiveRuns'>>(fields, query)
    const page = await api.listActiveRuns({ ...wanted, limit: jobsPerPage, cursor, signal })
    if (page.runs.length > 0 || page.cursor === null) return page
    cursor = page.cursor
  }
}

/** Running runs first, then dispatched, waiting and retrying ones; each group by due time. */
function byUrgency(runs: readonly Run[]): Run[] {
  const rank = (run: Run): number => ['RUNNING', 'DISPATCHED', 'WAITING', 'RETRY_WAIT'].indexOf(run.status)
  const due = (run: Run): number => Date.parse(run.dueAt ?? run.scheduledFor)
  return runs.toSorted((a, b) => rank(a) - rank(b) || due(a) - due(b))
}

function ActiveRuns() {
  const sum = underWayOf(latest.value)
  return (
    <p class="beside">
      Now {count(sum.running)} running, {count(sum.dispatched)} dispatched, {count(sum.waiting)} waiting.
    </p>
  )
}
