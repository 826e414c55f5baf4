/** Forecast of due occurrences: the next 12 hours by minute, or the next 7 days by hour. A cell opens the list of its jobs. */
import { useEffect, useRef } from 'preact/hooks'
import {
  api,
  type Cell,
  count,
  counted,
  type DueJobs,
  type Forecast,
  type Given,
  type Grid,
  gridOf,
  instant,
  isNarrow,
  rangeOf,
  type Step,
  stepMsOf,
  useResource,
  viewerZone,
} from '../model/index.ts'
import {
  Answer,
  Choice,
  column,
  Empty,
  Heading,
  HeatMap,
  HeatScale,
  head,
  isSearched,
  JobLink,
  Loading,
  numeric,
  Problem,
  SearchForm,
  Table,
  When,
  wantedOf,
} from '../parts/index.ts'

const busiestShown = 5
const jobsShown = 100
const panelRefreshMs = 10_000
const edgePx = 120
/** Jobs that recur more often than this would hide all others. */
const periodsMs = { MINUTE: 60_000, HOUR: 3_600_000, DAY: 86_400_000 } as const
const fields = [
  { name: 'tag', label: 'Tag' },
  { name: 'handler', label: 'Handler' },
  { name: 'pool', label: 'Pool' },
  { name: 'once', label: 'At most once a', choices: Object.keys(periodsMs) },
] as const
/** The year 9999. */
const atMsMax = 253_370_764_800_000

export function CalendarView({ query }: { query: URLSearchParams }) {
  const step: Step = query.get('by') === 'hour' ? 'hour' : 'minute'
  const filter = filterOf(query)
  const { value, problem } = useResource(`calendar by ${step} ${JSON.stringify(filter)}`, (signal) => {
    const { from, ...range } = rangeOf(step, Date.now())
    return api.getForecast({ from: String(from), ...range, ...filter, signal })
  })
  const hrefOf = (shown: Step, atMs?: number) => calendarHref(query, shown, atMs)
  const forecast = value.value
  const grid = forecast === undefined ? undefined : gridOf(step, forecast, isNarrow.value)
  const openMs = atOf(query)
  return (
    <>
      <Heading title="Calendar">
        <Choice
          label="Steps"
          links={[
            ['12 hours by minute', hrefOf('minute'), step === 'minute'],
            ['7 days by hour', hrefOf('hour'), step === 'hour'],
          ]}
        />
      </Heading>
      <SearchForm key={query.toString()} label="Calendar" href="/calendar" fields={fields} query={query} />
      <Problem problem={problem.value} known={forecast !== undefined} />
      {grid === undefined && problem.value === undefined && <Loading what="the forecast" />}
      {grid !== undefined && <CalendarMap {...{ grid, step, openMs, hrefOf }} />}
      {openMs !== undefined && (
        <DueIn
          key={`${openMs} ${JSON.stringify(filter)}`}
          {...{ fromMs: openMs, toMs: endOf(grid, step, openMs), filter, closed: hrefOf(step) }}
        />
      )}
      {grid !== undefined && <Busiest {...{ grid, step, hrefOf }} />}
      {forecast !== undefined && <Notes forecast={forecast} isFiltered={isSearched(fields, query)} />}
    </>
  )
}

/** The start of the open cell. An address may have any text there, and a time whose end no calendar has. */
function atOf(query: URLSearchParams): number | undefined {
  const at = Date.parse(query.get('at') ?? '')
  return at >= 0 && at <= atMsMax ? at : undefined
}

type DueFilter = Pick<Given<'getForecast'>, 'tag' | 'handler' | 'pool' | 'periodMsMin'>

/** The filter of the address, as parameters of the API. */
function filterOf(query: URLSearchParams): DueFilter {
  const { once, ...names } = wantedOf<DueFilter & { once?: string }>(fields, query)
  const periodMsMin = periodsMs[once as keyof typeof periodsMs] as number | undefined
  return { ...names, ...(periodMsMin !== undefined && { periodMsMin }) }
}

/** The calendar with the same filter. */
function calendarHref(shown: URLSearchParams, step: Step, atMs: number | undefined): string {
  const query = new URLSearchParams(fields.flatMap(({ name }) => (shown.has(name) ? [[name, shown.get(name) ?? '']] : [])))
  if (step === 'hour') query.set('by', 'hour')
  if (atMs !== undefined) query.set('at', new Date(atMs).toISOString())
  return query.size === 0 ? '/calendar' : `/calendar?${query}`
}
type HrefOf = (step: Step, atMs?: number) => string

/** A cell may hold an hour that a clock change repeats. */
const endOf = (grid: Grid | undefined, step: Step, atMs: number): number =>
  grid?.cells.find((cell) => cell.atMs === atMs)?.toMs ?? atMs + stepMsOf(step)

function CalendarMap({ grid, step, openMs, hrefOf }: { grid: Grid; step: Step; openMs: number | undefined; hrefOf: HrefOf }) {
  if (grid.cells.every(({ due }) => due === 0)) return <Empty>Nothing is due in this period.</Empty>
  return (
    <>
      <HeatMap key={step} grid={grid} step={step} openMs={openMs} hrefOf={({ atMs }: Cell) => hrefOf(step, atMs)} />
      <HeatScale grid={grid} zone={viewerZone} />
    </>
  )
}

type DueJob = DueJobs['jobs'][number]
const dueColumns = [
  head<DueJob>('Job', ({ id }) => <JobLink id={id} />),
  column<DueJob>('First due', ({ at }) => <When at={at} />),
  numeric<DueJob>('Times', ({ count: times }) => count(times)),
]

/** The jobs that are due in a cell. */
function DueIn({ fromMs, toMs, filter, closed }: { fromMs: number; toMs: number; filter: DueFilter; closed: string }) {
  const range = { from: String(fromMs), horizonMs: toMs - fromMs, limit: jobsShown, ...filter }
  const due = useResource(`due ${JSON.stringify(range)}`, (signal) => api.listDueJobs({ ...range, signal }), panelRefreshMs)
  const known = due.value.value
  const place = useRef<HTMLElement>(null)
  // Below the edge of a small screen nobody would see that a cell was opened.
  useEffect(() => {
    if ((place.current?.getBoundingClientRect().top ?? 0) > innerHeight - edgePx) place.current?.scrollIntoView()
  }, [])
  return (
    <section ref={place} aria-labelledby="due">
      <h2 id="due">
        Due from {instant(fromMs)} to {instant(toMs)}
      </h2>
      <Answer of={due} what="the jobs">
        {({ jobs }) =>
          jobs.length === 0 ? (
            <Empty>No job is due in this time. What was due may have fired already.</Empty>
          ) : (
            <Table of="jobs that are due" columns={dueColumns} rows={jobs} keyOf={({ id }) => id} />
          )
        }
      </Answer>
      <p class="beside">
        {known !== undefined &&
          known.found > known.jobs.length &&
          `The ${count(known.jobs.length)} that are due least often, of ${counted(known.found, 'job')}. `}
        {known?.complete === false && 'There are too many jobs to look at each, so some may be missing. '}
        <a href={closed}>Close</a>
      </p>
    </section>
  )
}

function Busiest({ grid, step, hrefOf }: { grid: Grid; step: Step; hrefOf: HrefOf }) {
  const busiest = grid.cells.filter(({ due }) => due > 0).sort((a, b) => b.due - a.due || a.atMs - b.atMs)
  if (busiest.length === 0) return null
  return (
    <>
      <h2>Busiest</h2>
      <ol class="busiest">
        {busiest.slice(0, busiestShown).map(({ atMs, due }) => (
          <li key={atMs}>
            <span class="number">{count(due)}</span> due in the {step} from <a href={hrefOf(step, atMs)}>{instant(atMs)}</a>
          </li>
        ))}
      </ol>
    </>
  )
}

/** Notes on how exact and how complete the counts are. */
function Notes({ forecast, isFiltered }: { forecast: Forecast; isFiltered: boolean }) {
  const { overdue, estimate, until, buckets, bucketMs } = forecast
  const end = Date.parse(buckets.at(-1)?.at ?? until) + bucketMs
  return (
    <p class="beside">
      {isFiltered && estimate
        ? 'There are too many jobs to look at each, so the counts of this filter are estimated.'
        : `The next occurrence of each job is exact; later ones ${estimate ? 'are estimated.' : 'follow from the schedules.'}`}
      {overdue > 0 && !isFiltered && ` ${count(overdue)} more are overdue.`}
      {Date.parse(until) < end && ` Occurrences after ${instant(Date.parse(until))} were too many to count.`}
    </p>
  )
}
