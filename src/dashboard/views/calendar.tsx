/** Forecast of due occurrences: the next 12 hours by minute, or the next 7 days by hour. A cell opens the list of its jobs. */
import { useEffect, useRef } from 'preact/hooks'
import {
  ask,
  type Cell,
  count,
  counted,
  type DueJobs,
  type Forecast,
  type Grid,
  gridOf,
  instant,
  isNarrow,
  path,
  rangeOf,
  type Step,
  stepMsOf,
  useResource,
  viewerZone,
} from '../model/index.ts'
import { Empty, Heading, HeatMap, HeatScale, JobLink, Loading, Problem, Table, When } from '../parts/index.ts'

const busiestShown = 5
const jobsShown = 100
const panelRefreshMs = 10_000
const edgePx = 120
/** The year 9999. */
const atMsMax = 253_370_764_800_000

export function CalendarView({ query }: { query: URLSearchParams }) {
  const step: Step = query.get('by') === 'hour' ? 'hour' : 'minute'
  const { value, problem } = useResource(`calendar by ${step}`, (signal) =>
    ask<Forecast>(path(['forecast'], { ...rangeOf(step, Date.now()) }), { signal }),
  )
  const forecast = value.value
  const grid = forecast === undefined ? undefined : gridOf(step, forecast, isNarrow.value)
  const openMs = atOf(query)
  return (
    <>
      <Heading title="Calendar">
        <nav class="choice" aria-label="Steps">
          <a href="/calendar" aria-current={step === 'minute' ? 'true' : undefined}>
            12 hours by minute
          </a>
          <a href="/calendar?by=hour" aria-current={step === 'hour' ? 'true' : undefined}>
            7 days by hour
          </a>
        </nav>
      </Heading>
      <Problem problem={problem.value} known={forecast !== undefined} />
      {grid === undefined && problem.value === undefined && <Loading what="the forecast" />}
      {grid !== undefined && <CalendarMap grid={grid} step={step} openMs={openMs} />}
      {openMs !== undefined && <DueIn key={openMs} fromMs={openMs} toMs={endOf(grid, step, openMs)} closed={hrefOf(step)} />}
      {grid !== undefined && <Busiest grid={grid} step={step} />}
      {forecast !== undefined && <Notes forecast={forecast} />}
    </>
  )
}

/** The start of the open cell. An address may have any text there, and a time whose end no calendar has. */
function atOf(query: URLSearchParams): number | undefined {
  const at = Date.parse(query.get('at') ?? '')
  return at >= 0 && at <= atMsMax ? at : undefined
}

const hrefOf = (step: Step, atMs?: number): string => {
  const query = new URLSearchParams(step === 'hour' ? { by: 'hour' } : {})
  if (atMs !== undefined) query.set('at', new Date(atMs).toISOString())
  return query.size === 0 ? '/calendar' : `/calendar?${query}`
}

/** A cell may hold an hour that a clock change repeats. */
const endOf = (grid: Grid | undefined, step: Step, atMs: number): number =>
  grid?.cells.find((cell) => cell.atMs === atMs)?.toMs ?? atMs + stepMsOf(step)

function CalendarMap({ grid, step, openMs }: { grid: Grid; step: Step; openMs: number | undefined }) {
  if (grid.cells.every(({ due }) => due === 0)) return <Empty>Nothing is due in this period.</Empty>
  return (
    <>
      <HeatMap key={step} grid={grid} step={step} openMs={openMs} hrefOf={({ atMs }: Cell) => hrefOf(step, atMs)} />
      <HeatScale grid={grid} zone={viewerZone} />
    </>
  )
}

/** The jobs that are due in a cell. */
function DueIn({ fromMs, toMs, closed }: { fromMs: number; toMs: number; closed: string }) {
  const { value, problem } = useResource(
    `due ${fromMs} ${toMs}`,
    (signal) =>
      ask<DueJobs>(path(['forecast', 'jobs'], { from: fromMs, horizonMs: toMs - fromMs, limit: jobsShown }), { signal }),
    panelRefreshMs,
  )
  const place = useRef<HTMLElement>(null)
  // Below the edge of a small screen nobody would see that a cell was opened.
  useEffect(() => {
    if ((place.current?.getBoundingClientRect().top ?? 0) > innerHeight - edgePx) place.current?.scrollIntoView()
  }, [])
  const due = value.value
  return (
    <section ref={place} aria-labelledby="due">
      <h2 id="due">
        Due from {instant(fromMs)} to {instant(toMs)}
      </h2>
      <Problem problem={problem.value} known={due !== undefined} />
      {due === undefined && problem.value === undefined && <Loading what="the jobs" />}
      {due?.jobs.length === 0 && <Empty>No job is due in this time. What was due may have fired already.</Empty>}
      {due !== undefined && due.jobs.length > 0 && (
        <Table of="jobs that are due" columns={['Job', 'First due', { title: 'Times', number: true }]}>
          {due.jobs.map(({ id, at, count: times }) => (
            <tr key={id}>
              <th scope="row">
                <JobLink id={id} />
              </th>
              <td>
                <When at={at} />
              </td>
              <td class="number">{count(times)}</td>
            </tr>
          ))}
        </Table>
      )}
      <p class="beside">
        {due !== undefined &&
          due.found > due.jobs.length &&
          `The first ${count(due.jobs.length)} of ${counted(due.found, 'job')}. `}
        {due?.complete === false && 'There are too many jobs to look at each, so some may be missing. '}
        <a href={closed}>Close</a>
      </p>
    </section>
  )
}

function Busiest({ grid, step }: { grid: Grid; step: Step }) {
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
function Notes({ forecast: { overdue, estimate, until, buckets, bucketMs } }: { forecast: Forecast }) {
  const end = Date.parse(buckets.at(-1)?.at ?? until) + bucketMs
  return (
    <p class="beside">
      The next occurrence of each job is exact; later ones {estimate ? 'are estimated.' : 'follow from the schedules.'}
      {overdue > 0 && ` ${count(overdue)} more are overdue.`}
      {Date.parse(until) < end && ` Occurrences after ${instant(Date.parse(until))} were too many to count.`}
    </p>
  )
}
