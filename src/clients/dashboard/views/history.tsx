/** History of ended runs: a search with counts over time, newest first, or the loaded page by another column. */
import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  api,
  count,
  type Given,
  type HistoryPage,
  type HistoryRun,
  instant,
  lateBetween,
  ms,
  reasonWords,
  useResource,
  visible,
} from '../model/index.ts'
import {
  ActionButton,
  Code,
  column,
  Empty,
  ErrorText,
  head,
  inOrder,
  isSearched,
  JobLink,
  ListView,
  numeric,
  Order,
  type Orders,
  Problem,
  RunLink,
  Status,
  searchOf,
  Table,
  Tags,
  Text,
  When,
  wantedOf,
} from '../parts/index.ts'

const pageSize = 100
/** Maximum of requests for one page: a search ends after about a second, and then goes on from its cursor. */
const requestsMax = 20
const outcomes = ['SUCCEEDED', 'DEAD', 'EXPIRED', 'CANCELLED', 'SKIPPED']
const fields = [
  { name: 'jobId', label: 'Job ID', code: true },
  { name: 'idPrefix', label: 'Job ID begins with', code: true },
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
  { name: 'pool', label: 'Pool' },
  { name: 'outcome', label: 'Outcome', choices: outcomes },
  { name: 'errorType', label: 'Error' },
  { name: 'errorText', label: 'Error contains' },
  { name: 'minDurationMs', label: 'Duration from (ms)', kind: 'number' },
  { name: 'maxDurationMs', label: 'Duration to (ms)', kind: 'number' },
  { name: 'from', label: 'From', kind: 'time' },
  { name: 'to', label: 'To', kind: 'time' },
] as const
const orders: Orders<HistoryRun> = [
  ['', 'newest first'],
  ['duration', 'longest first', ({ durationMs }) => durationMs ?? -1],
  ['attempts', 'most attempts first', ({ attempts }) => attempts],
  ['late', 'latest start first', ({ dueAt, startedAt }) => lateBetween(dueAt, startedAt) ?? -1],
]

export function HistoryView({ query }: { query: URLSearchParams }) {
  const search = searchOf(query)
  const list = useResource(search.toString(), (signal) => pageOf(search, signal), false)
  const looks = useSignal(0)
  // The counts are asked for with the page, and stay in view until they come.
  const look = async (): Promise<void> => {
    await list.refresh()
    looks.value++
  }
  const refresh = (
    <div class="buttons end">
      <ActionButton run={look}>Refresh</ActionButton>
    </div>
  )
  return (
    <ListView
      {...{ title: 'History', href: '/history', fields, query, of: list, what: 'the history' }}
      beside={list.value.value && refresh}
      shownOf={({ runs }) => runs.length}
    >
      {({ runs, problem, searchedTo }) => (
        <>
          {problem !== undefined && (
            <p class="state bad" role="alert">
              {visible(problem)}
            </p>
          )}
          <Counts query={search} looks={looks} />
          {runs.length === 0 ? (
            <Empty>
              {isSearched(fields, query) ? 'No matching runs' : 'No runs have ended yet'}
              {searchedTo === null ? '.' : ` since ${instant(Date.parse(searchedTo))}.`}
            </Empty>
          ) : (
            <>
              <Order href="/history" query={query} orders={orders} />
              <Table
                of="ended runs"
                columns={columns}
                rows={inOrder(runs, query, orders)}
                keyOf={(run) => `${run.runId}@${run.life} ${run.scheduledFor}`}
                class="runs history"
              />
            </>
          )}
        </>
      )}
    </ListView>
  )
}

async function pageOf(query: URLSearchParams, signal: AbortSignal): Promise<HistoryPage> {
  let cursor = query.get('cursor') ?? undefined
  for (let requests = 1; ; requests++) {
    const page = await api.listHistory({ ...wantedOf<Given<'listHistory'>>(fields, query), limit: pageSize, cursor, signal })
    if (page.runs.length > 0 || page.cursor === null || requests === requestsMax) return page
    cursor = page.cursor
  }
}

const columns = [
  head<HistoryRun>(
    'Run',
    ({ jobId, runNo, tags }) => (
      <>
        {runNo === 0 ? <JobLink id={jobId} /> : <RunLink jobId={jobId} runNo={runNo} named />}
        <Tags tags={tags} />
      </>
    ),
    { class: 'code' },
  ),
  column<HistoryRun>('Outcome', ({ outcome, reason, runNo, note }) => (
    <>
      <Status of={outcome} />
      {reason !== null && <span class="aside"> {visible(reasonWords(reason))}</span>}
      {runNo === 0 && note !== null && <span class="aside">{visible(note)}</span>}
    </>
  )),
  column<HistoryRun>('Ended', ({ finishedAt }) => <When at={finishedAt} />),
  numeric<HistoryRun>('Late by', ({ dueAt, startedAt }) => ms(lateBetween(dueAt, startedAt))),
  numeric<HistoryRun>('Duration', ({ durationMs }) => ms(durationMs)),
  numeric<HistoryRun>('Attempts', ({ attempts }) => attempts),
  column<HistoryRun>('Handler', ({ handler, topic }) => <Text of={handler ?? (topic === null ? '—' : `topic ${topic}`)} />),
  column<HistoryRun>(
    'Error',
    ({ errorType: type, errorMessage: message }) => {
      if (type === null) return '—'
      return message === null ? <Code of={type} /> : <ErrorText of={{ type, message }} />
    },
    { class: 'words' },
  ),
]

const [hourMs, dayMs] = [3_600_000, 86_400_000]
/** Most bars that one can tell apart, 5 px wide on a usual screen. */
const barsMax = 240

/** Length of a bar: an hour or some hours, or whole days, so that there are not too many. */
function bucketMsOf(wanted: { from?: string; to?: string }): number {
  const to = wanted.to === undefined ? Date.now() : Date.parse(wanted.to)
  const from = wanted.from === undefined ? to - dayMs : Date.parse(wanted.from)
  const lengths = [hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, dayMs]
  return lengths.find((ms) => (to - from) / ms <= barsMax) ?? Math.ceil((to - from) / barsMax / dayMs) * dayMs
}

const sumsText = (outcomes: Readonly<Record<string, number>>): string =>
  Object.entries(outcomes)
    .map(([outcome, runs]) => `${count(runs)} ${outcome.toLowerCase()}`)
    .join(', ')

/** Ended runs by time, with their outcomes: of the range of the search, or of the last 24 h. */
function Counts({ query, looks }: { query: URLSearchParams; looks: ReadonlySignal<number> }) {
  const wanted = wantedOf<Given<'countHistory'>>(fields, query)
  const load = (signal: AbortSignal) => api.countHistory({ ...wanted, bucketMs: bucketMsOf(wanted), signal })
  const resource = useResource(`counts ${query}`, load, false)
  const { value, problem } = resource
  useEffect(() => {
    if (looks.value > 0) void resource.refresh()
  }, [looks.value])
  const counts = value.value
  if (counts === undefined) return <Problem problem={problem.value} known={false} />
  if (counts.buckets.length === 0) return null
  const { bucketMs, buckets, total, countedFrom } = counts
  const [fromMs, toMs] = [Date.parse(counts.from), Date.parse(counts.to)]
  const sums = buckets.map(({ outcomes: of }) => Object.values(of).reduce((sum, each) => sum + each, 0))
  const most = Math.max(...sums)
  const width = 1_000 / Math.max(1, (toMs - fromMs) / bucketMs)
  const text = sumsText(total)
  return (
    <figure class="strip counts">
      <svg viewBox="0 0 1000 48" preserveAspectRatio="none" role="img" aria-label={`Ended runs over time: ${text}`}>
        {buckets.map(({ at, outcomes: of }, index) => {
          const height = ((sums[index] ?? 0) / most) * 46
          const good = ((of.SUCCEEDED ?? 0) + (of.SKIPPED ?? 0)) / Math.max(1, sums[index] ?? 0)
          const x = ((Date.parse(at) - fromMs) / bucketMs) * width
          return (
            <g key={at}>
              <title>{`${instant(Date.parse(at))}: ${sumsText(of)}`}</title>
              <rect class="bar SUCCEEDED" x={x} width={width * 0.9} y={48 - height * good} height={height * good} />
              <rect class="bar DEAD" x={x} width={width * 0.9} y={48 - height} height={height * (1 - good)} />
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{instant(fromMs)}</span>
        <span>
          {text}
          {countedFrom !== null && `, counted back to ${instant(Date.parse(countedFrom))}`}
        </span>
        <span>{instant(toMs)}</span>
      </figcaption>
    </figure>
  )
}
