/** Charts of a job: how late its runs started and how long they took, each run a point, with the running median. */
import {
  ask,
  axisDuration,
  count,
  duration,
  endedOf,
  type HistoryPage,
  path,
  type Run,
  runningMedian,
  trendOf,
  useResource,
} from '../model/index.ts'
import { Chart, type ChartMark, type Line } from './chart.tsx'
import { Empty } from './states.tsx'

/** Runs that the charts show. */
const runsShown = 300
/** Runs of a running median. */
const medianOf = 9
const refreshMs = 15_000
const pointsMin = 2

const lines: readonly Line[] = [
  { name: 'run', color: 'line-1', dots: true },
  { name: `median of ${medianOf}`, color: 'line-2' },
]

/** `kept`: the runs that the owner keeps, for a system without a history. */
export function JobTrends({ jobId, kept }: { jobId: string; kept: readonly Run[] }) {
  const { value, problem } = useResource(
    `trend of ${jobId}`,
    (signal) => ask<HistoryPage>(path(['history'], { jobId, limit: runsShown }), { signal }),
    refreshMs,
  )
  const history = value.value?.runs.filter(({ runNo }) => runNo > 0)
  const points = trendOf(history ?? (problem.value === undefined ? [] : kept.flatMap((run) => endedOf(run) ?? [])))
  if (points.length < pointsMin) return <Empty>Shown after the second run has ended.</Empty>
  const times = points.map(({ atMs }) => atMs)
  const names = points.map(({ runNo, outcome }) => `run ${runNo} ${outcome.toLowerCase()}`)
  const marks = points.flatMap(({ atMs, runNo, outcome }): ChartMark[] =>
    outcome === 'DEAD' || outcome === 'EXPIRED' ? [{ atMs, text: `run ${runNo} ${outcome.toLowerCase()}` }] : [],
  )
  const chart = (title: string, values: (number | undefined)[]) => {
    const last = values.findLast((known) => known !== undefined)
    return (
      <Chart
        title={title}
        now={last === undefined ? 'unknown' : `last ${duration(last)}`}
        lines={lines}
        times={times}
        values={[values.map((known) => known ?? null), runningMedian(values, medianOf)]}
        axisWords={duration}
        axisText={axisDuration}
        atLeast={20}
        marks={marks}
        names={names}
      />
    )
  }
  return (
    <>
      <div class="charts">
        {chart(
          'Start lateness',
          points.map(({ lateMs }) => lateMs),
        )}
        {chart(
          'Duration',
          points.map(({ durationMs }) => durationMs),
        )}
      </div>
      <p class="aside">
        The last {count(points.length)} ended runs{history === undefined && ', as the history does not answer'}. Both values are
        those of the last attempt. Dashed lines: runs that ended dead or expired.
      </p>
    </>
  )
}
