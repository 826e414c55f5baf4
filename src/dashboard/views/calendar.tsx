/** Forecast of due occurrences: the next 12 hours by minute, or the next 7 days by hour. */
import {
  ask,
  type Cell,
  count,
  counted,
  type Forecast,
  type Grid,
  gridOf,
  instant,
  levelOf,
  palestOf,
  path,
  rangeOf,
  type Step,
  useResource,
  viewerZone,
} from '../model/index.ts'
import { Empty, Heading, Loading, Problem } from '../parts/index.ts'

const levels = 5
const busiestShown = 5

export function CalendarView({ query }: { query: URLSearchParams }) {
  const step: Step = query.get('by') === 'hour' ? 'hour' : 'minute'
  const { value, problem } = useResource(`calendar by ${step}`, (signal) =>
    ask<Forecast>(path(['forecast'], { ...rangeOf(step, Date.now()) }), { signal }),
  )
  const forecast = value.value
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
      {forecast === undefined && problem.value === undefined && <Loading what="the forecast" />}
      {forecast !== undefined && <HeatMap key={step} grid={gridOf(step, forecast)} step={step} />}
      {forecast !== undefined && <Notes forecast={forecast} />}
    </>
  )
}

const cellPx = { minute: { width: 15, height: 20, every: 5 }, hour: { width: 37, height: 26, every: 1 } } as const
const titlePx = 84
const headPx = 20

function HeatMap({ grid, step }: { grid: Grid; step: Step }) {
  const { rows, columns, cells } = grid
  const { width, height, every } = cellPx[step]
  const dues = cells.map(({ due }) => due)
  const most = Math.max(0, ...dues)
  const palest = palestOf(dues)
  const total = cells.reduce((sum, { due }) => sum + due, 0)
  const busiest = cells.filter(({ due }) => due > 0).sort((a, b) => b.due - a.due || a.atMs - b.atMs)
  if (total === 0) return <Empty>Nothing is due in this period.</Empty>
  const label = `${counted(total, 'occurrence')} in ${cells.length} steps; the busiest has ${count(most)}, at ${instant(busiest[0]?.atMs ?? 0)}`
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label="Heat map">
        <svg
          class="heat"
          role="img"
          aria-label={label}
          width={titlePx + columns * width}
          height={headPx + rows.length * height}
          viewBox={`0 0 ${titlePx + columns * width} ${headPx + rows.length * height}`}
        >
          {Array.from({ length: Math.ceil(columns / every) }, (_, index) => (
            <text key={index} x={titlePx + index * every * width} y={12}>
              {String(index * every).padStart(2, '0')}
            </text>
          ))}
          {rows.map((title, row) => (
            <text key={title} x={0} y={headPx + row * height + height / 2 + 4}>
              {title}
            </text>
          ))}
          {cells.map((cell) => (
            <Square
              key={`${cell.row} ${cell.column}`}
              cell={cell}
              level={levelOf(cell.due, palest, most, levels)}
              width={width}
              height={height}
            />
          ))}
        </svg>
      </div>
      <p class="scale">
        none
        <span class="steps" aria-hidden="true">
          {Array.from({ length: levels + 1 }, (_, level) => (
            <span key={level} class={`level-${level}`} />
          ))}
        </span>
        {count(most)} · times in {viewerZone}
      </p>
      <h2>Busiest</h2>
      <ol class="busiest">
        {busiest.slice(0, busiestShown).map(({ atMs, due }) => (
          <li key={atMs}>
            <span class="number">{count(due)}</span> due in the {step} from{' '}
            <time dateTime={new Date(atMs).toISOString()}>{instant(atMs)}</time>
          </li>
        ))}
      </ol>
    </>
  )
}

interface SquareProps {
  cell: Cell
  level: number
  width: number
  height: number
}

function Square({ cell: { row, column, atMs, due }, level, width, height }: SquareProps) {
  return (
    <rect class={`level-${level}`} x={titlePx + column * width} y={headPx + row * height} width={width - 2} height={height - 2}>
      <title>{`${instant(atMs)}: ${count(due)}`}</title>
    </rect>
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
