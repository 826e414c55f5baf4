/** History of ended runs: a search with counts over time, newest first, or the loaded page by another column. */
import { type ReadonlySignal, useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  ask,
  count,
  duration,
  type HistoryCounts,
  type HistoryPage,
  type HistoryRun,
  instant,
  path,
  reasonWords,
  useResource,
  visible,
} from '../model/index.ts'
import {
  ActionButton,
  ClampedText,
  Empty,
  Heading,
  isSearched,
  JobLink,
  Loading,
  Order,
  Pages,
  Problem,
  RunLink,
  SearchForm,
  Status,
  Table,
  Tags,
  Text,
  When,
  wantedOf,
} from '../parts/index.ts'

const pageSize = 100
/** Maximum of requests for one page: a search ends after about a second, and then goes on from its cursor. */
const requestsMax = 20
const outcomes = ['SUCCEEDED', 'DEAD', 'EXPIRED', 'CANCELLED', 'DISPATCHED', 'SKIPPED']
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
const orders = [
  ['', 'newest first'],
  ['duration', 'longest first'],
  ['attempts', 'most attempts first'],
  ['late', 'latest start first'],
] as const

export function HistoryView({ query }: { query: URLSearchParams }) {
  const search = new URLSearchParams([...query].filter(([name]) => name !== 'order'))
  const key = search.toString()
  const list = useResource(key, (signal) => pageOf(search, signal), false)
  const { value, problem } = list
  const page = value.value
  const looks = useSignal(0)
  // The counts are asked for with the page, and stay in view until they come.
  const look = async (): Promise<void> => {
    await list.refresh()
    looks.value++
  }
  return (
    <>
      <Heading title="History">
        {page !== undefined && (
          <div class="buttons end">
            <ActionButton run={look}>Refresh</ActionButton>
          </div>
        )}
      </Heading>
      <SearchForm key={key} label="History" href="/history" fields={fields} query={query} />
      <Problem problem={problem.value} known={page !== undefined} />
      {page === undefined && problem.value === undefined && <Loading what="the history" />}
      {page?.problem !== undefined && (
        <p class="state bad" role="alert">
          {visible(page.problem)}
        </p>
      )}
      {page !== undefined && <Counts query={search} looks={looks} />}
      {page?.runs.length === 0 && (
        <Empty>
          {isSearched(fields, query) ? 'No matching runs' : 'No runs have ended yet'}
          {page.searchedTo === null ? '.' : ` since ${instant(Date.parse(page.searchedTo))}.`}
        </Empty>
      )}
      {page !== undefined && page.runs.length > 0 && (
        <>
          <Order href="/history" query={query} orders={orders} />
          <RunsTable runs={sorted(page.runs, query.get('order') ?? '')} />
        </>
      )}
      {page !== undefined && <Pages href="/history" query={query} cursor={page.cursor} shown={page.runs.length} />}
    </>
  )
}

async function pageOf(query: URLSearchParams, signal: AbortSignal): Promise<HistoryPage> {
  let cursor = query.get('cursor') ?? undefined
  for (let requests = 1; ; requests++) {
    const page = await ask<HistoryPage>(path(['history'], { ...wantedOf(fields, query), limit: pageSize, cursor }), { signal })
    if (page.runs.length > 0 || page.cursor === null || requests === requestsMax) return page
    cursor = page.cursor
  }
}

const lateMsOf = ({ dueAt, startedAt }: HistoryRun): number =>
  dueAt === null || startedAt === null ? -1 : Math.max(0, Date.parse(startedAt) - Date.parse(dueAt))

function sorted(runs: readonly HistoryRun[], order: string): HistoryRun[] {
  const sizes: Record<string, (run: HistoryRun) => number> = {
    duration: ({ durationMs }) => durationMs ?? -1,
    attempts: ({ attempts }) => attempts,
    late: lateMsOf,
  }
  const size = sizes[order]
  return size === undefined ? [...runs] : runs.toSorted((a, b) => size(b) - size(a))
}

function RunsTable({ runs }: { runs: readonly HistoryRun[] }) {
  return (
    <Table
      of="ended runs"
      columns={[
        'Run',
        'Outcome',
        'Ended',
        { title: 'Late by', number: true },
        { title: 'Duration', number: true },
        { title: 'Attempts', number: true },
        'Handler',
        'Error',
      ]}
      class="runs history"
    >
      {runs.map((run) => (
        <Row key={`${run.runId}@${run.life} ${run.scheduledFor}`} run={run} />
      ))}
    </Table>
  )
}

function Row({ run }: { run: HistoryRun }) {
  const { jobId, runNo, outcome, reason, finishedAt, durationMs, attempts, handler, topic, tags, errorType, errorMessage, note } =
    run
  const lateMs = lateMsOf(run)
  return (
    <tr>
      <th scope="row" class="code">
        {runNo === 0 ? <JobLink id={jobId} /> : <RunLink jobId={jobId} runNo={runNo} named />}
        <Tags tags={tags} />
      </th>
      <td>
        <Status of={outcome} />
        {reason !== null && <span class="aside"> {visible(reasonWords(reason))}</span>}
        {runNo === 0 && note !== null && <span class="aside">{visible(note)}</span>}
      </td>
      <td>
        <When at={finishedAt} />
      </td>
      <td class="number">{lateMs < 0 ? '—' : duration(lateMs)}</td>
      <td class="number">{durationMs === null ? '—' : duration(durationMs)}</td>
      <td class="number">{attempts}</td>
      <td>
        <Text of={handler ?? (topic === null ? '—' : `topic ${topic}`)} />
      </td>
      <td class="words">
        {errorType === null ? (
          '—'
        ) : (
          <>
            <span class="code">
              <Text of={errorType} />
            </span>
            {errorMessage !== null && (
              <>
                : <ClampedText of={errorMessage} />
              </>
            )}
          </>
        )}
      </td>
    </tr>
  )
}

const [hourMs, dayMs] = [3_600_000, 86_400_000]
/** Most bars that one can tell apart, 5 px wide on a usual screen. */
const barsMax = 240

/** Length of a bar: an hour or some hours, or whole days, so that there are not too many. */
function bucketMsOf(wanted: Record<string, string>): number {
  const to = wanted.to === undefined ? Date.now() : Date.parse(wanted.to)
  const from = wanted.from === undefined ? to - dayMs : Date.parse(wanted.from)
  const lengths = [hourMs, 3 * hourMs, 6 * hourMs, 12 * hourMs, dayMs]
  return lengths.find((ms) => (to - from) / ms <= barsMax) ?? Math.ceil((to - from) / barsMax / dayMs) * dayMs
}

/** Ended runs by time, with their outcomes: of the range of the search, or of the last 24 h. */
function Counts({ query, looks }: { query: URLSearchParams; looks: ReadonlySignal<number> }) {
  const wanted = wantedOf(fields, query)
  const resource = useResource(
    `counts ${query}`,
    (signal) => ask<HistoryCounts>(path(['history', 'counts'], { ...wanted, bucketMs: bucketMsOf(wanted) }), { signal }),
    false,
  )
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
  const text = Object.entries(total).map(([outcome, runs]) => `${count(runs)} ${outcome.toLowerCase()}`)
  return (
    <figure class="strip counts">
      <svg viewBox="0 0 1000 48" preserveAspectRatio="none" role="img" aria-label={`Ended runs over time: ${text.join(', ')}`}>
        {buckets.map(({ at, outcomes: of }, index) => {
          const height = ((sums[index] ?? 0) / most) * 46
          const good = ((of.SUCCEEDED ?? 0) + (of.DISPATCHED ?? 0) + (of.SKIPPED ?? 0)) / Math.max(1, sums[index] ?? 0)
          const x = ((Date.parse(at) - fromMs) / bucketMs) * width
          return (
            <g key={at}>
              <title>{`${instant(Date.parse(at))}: ${Object.entries(of)
                .map(([outcome, runs]) => `${count(runs)} ${outcome.toLowerCase()}`)
                .join(', ')}`}</title>
              <rect class="bar SUCCEEDED" x={x} width={width * 0.9} y={48 - height * good} height={height * good} />
              <rect class="bar DEAD" x={x} width={width * 0.9} y={48 - height} height={height * (1 - good)} />
            </g>
          )
        })}
      </svg>
      <figcaption>
        <span>{instant(fromMs)}</span>
        <span>
          {text.join(', ')}
          {countedFrom !== null && `, counted back to ${instant(Date.parse(countedFrom))}`}
        </span>
        <span>{instant(toMs)}</span>
      </figcaption>
    </figure>
  )
}
