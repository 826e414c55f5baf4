/** Charts of the last hour or the last 24 h from the server, with marks of starts, takeovers and deploys. */
import { api, axisDuration, count, duration, isAway, rate, type Series, useResource } from '../model/index.ts'
import { Chart, type ChartMark, type Line } from './chart.tsx'
import { Empty, Loading, Problem } from './states.tsx'
import { When } from './text.tsx'

type Column = keyof Series['columns']

interface ChartPlan {
  title: string
  lines: readonly (Line & { column: Column })[]
  /** The values are counts of a step, shown for each second. */
  perSecond?: boolean
  words: (value: number) => string
  axisText?: (value: number) => string
  atLeast: number
}

const plans: readonly ChartPlan[] = [
  {
    title: 'Start lateness',
    lines: [
      { name: 'max', color: 'line-3', column: 'maxMs' },
      { name: 'p99', color: 'line-2', column: 'p99Ms' },
      { name: 'p50', color: 'line-1', column: 'p50Ms' },
    ],
    words: duration,
    axisText: axisDuration,
    atLeast: 20,
  },
  {
    title: 'Runs per second',
    lines: [
      { name: 'started', color: 'line-1', filled: true, column: 'started' },
      { name: 'ended', color: 'line-2', column: 'ended' },
      { name: 'failed', color: 'line-bad', column: 'failed' },
    ],
    perSecond: true,
    words: rate,
    atLeast: 1,
  },
  {
    title: 'Not finished',
    lines: [
      { name: 'active', color: 'line-1', filled: true, column: 'active' },
      { name: 'waiting', color: 'line-2', column: 'waiting' },
      { name: 'backlog', color: 'line-3', column: 'backlog' },
    ],
    words: count,
    atLeast: 10,
  },
  {
    title: 'Dead letters',
    lines: [{ name: 'standing', color: 'line-bad', filled: true, column: 'deadLetters' }],
    words: count,
    atLeast: 10,
  },
]

const refreshMs = { hour: 10_000, day: 60_000 } as const
const marksShown = 8

export function SeriesCharts({ range }: { range: 'hour' | 'day' }) {
  const { value, problem } = useResource(`series of the ${range}`, (signal) => api.getSeries({ range, signal }), refreshMs[range])
  const series = value.value
  // The view says already that no answer comes.
  const shown = isAway.value && problem.value?.status === 0 ? undefined : problem.value
  if (series === undefined) return shown === undefined ? <Loading what="charts" /> : <Problem problem={shown} />
  if (series.from === null)
    return <Empty>The first values of the {range === 'hour' ? 'hour' : 'day'} come within a minute.</Empty>
  const from = Date.parse(series.from)
  const times = series.columns.started.map((_, index) => from + (index + 1) * series.stepMs)
  const marks = series.marks.map(({ at, text }) => ({ atMs: Date.parse(at), text }))
  return (
    <>
      <Problem problem={shown} known />
      <div class="charts">
        {plans.map((plan) => (
          <SeriesChart key={plan.title} plan={plan} series={series} times={times} marks={marks} />
        ))}
      </div>
      {marks.length > 0 && <Marks marks={series.marks} />}
    </>
  )
}

interface SeriesChartProps {
  plan: ChartPlan
  series: Series
  times: readonly number[]
  marks: readonly ChartMark[]
}

function SeriesChart({
  plan: { title, lines, perSecond = false, words, axisText = words, atLeast },
  series,
  times,
  marks,
}: SeriesChartProps) {
  const share = perSecond ? 1_000 / series.stepMs : 1
  const values = lines.map(({ column }) => series.columns[column].map((value) => (value === null ? null : value * share)))
  const last = (line: number): string => {
    const value = values[line]?.at(-1)
    return value === null || value === undefined ? '—' : words(value)
  }
  return (
    <Chart
      title={title}
      now={lines.map(({ name }, line) => `${name} ${last(line)}`).join(', ')}
      lines={lines}
      times={times}
      values={values}
      axisWords={words}
      axisText={axisText}
      atLeast={atLeast}
      rangeMs={series.rangeMs}
      marks={marks}
    />
  )
}

function Marks({ marks }: Pick<Series, 'marks'>) {
  return (
    <details class="marks">
      <summary>
        {count(marks.length)} {marks.length === 1 ? 'start, takeover or deploy' : 'starts, takeovers and deploys'} in the charts
      </summary>
      <ol reversed>
        {marks
          .slice(-marksShown)
          .reverse()
          .map(({ at, text }) => (
            <li key={`${at} ${text}`}>
              <When at={at} /> {text}
            </li>
          ))}
      </ol>
    </details>
  )
}
