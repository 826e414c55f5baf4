/** What a job did: why it fired or did not, a strip of when its runs were due, waited and ran, and charts of how late they started and how long they took. */
import { type ReasonGroup, reasonGroups } from '../../../../streams/text/index.ts'
import {
  api,
  axisDuration,
  count,
  counted,
  duration,
  endedOf,
  instant,
  isActive,
  isStarted,
  type JobExplanation,
  nowMs,
  type Run,
  runningMedian,
  statusWord,
  type TrendPoint,
  trendOf,
  useResource,
  viewerZone,
} from '../model/index.ts'
import { Chart, type ChartMark, type Line } from './chart.tsx'
import { Empty } from './states.tsx'
import { Code, Prose, RunLink, When } from './text.tsx'

/** Smallest visible width of a run, as a share of the strip. */
const shareMin = 0.006
/** Shortest range of the strip, so that a single short run does not fill it. */
const rangeMsMin = 60_000

export function RunStrip({ runs }: { runs: readonly Run[] }) {
  const spans = runs.map((run) => {
    const dueMs = Date.parse(run.dueAt ?? run.scheduledFor)
    const startMs = run.startedAt !== null && (isStarted(run) || !isActive(run)) ? Date.parse(run.startedAt) : undefined
    const endMs = run.finishedAt === null ? nowMs.value : Date.parse(run.finishedAt)
    return { run, fromMs: Math.min(dueMs, startMs ?? dueMs), startMs, toMs: Math.max(endMs, startMs ?? dueMs) }
  })
  const last = Math.max(...spans.map(({ toMs }) => toMs))
  const first = Math.min(last - rangeMsMin, ...spans.map(({ fromMs }) => fromMs))
  const width = last - first
  const bar = (fromMs: number, toMs: number) => ({
    x: Math.min(((fromMs - first) / width) * 1_000, 1_000 - shareMin * 1_000),
    width: Math.max(((toMs - fromMs) / width) * 1_000, shareMin * 1_000),
    height: 16,
    y: 2,
  })
  return (
    <figure class="strip">
      <svg
        viewBox="0 0 1000 20"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${counted(runs.length, 'run')} from ${instant(first)} to ${instant(last)}`}
      >
        {spans.map(({ run, fromMs, startMs = run.finishedAt === null ? nowMs.value : fromMs, toMs }) => (
          <g key={run.runNo}>
            {startMs > fromMs && (
              <rect class="bar WAITING" {...bar(fromMs, startMs)}>
                <title>{`Run ${run.runNo}: waited ${duration(startMs - fromMs)}`}</title>
              </rect>
            )}
            {toMs > startMs && (
              <rect class={`bar ${run.status}`} {...bar(startMs, toMs)}>
                <title>{`Run ${run.runNo}: ${statusWord(run.status)}, ${duration(toMs - startMs)}`}</title>
              </rect>
            )}
          </g>
        ))}
      </svg>
      <figcaption>
        <span>{instant(first)}</span>
        <span>{duration(width)}</span>
        <span>{instant(last)}</span>
      </figcaption>
    </figure>
  )
}

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
  const load = (signal: AbortSignal) => api.listHistory({ jobId, limit: runsShown, signal })
  const { value, problem } = useResource(`trend of ${jobId}`, load, refreshMs)
  const history = value.value?.runs.filter(({ runNo }) => runNo > 0)
  const points = trendOf(history ?? (problem.value === undefined ? [] : kept.flatMap((run) => endedOf(run) ?? [])))
  if (points.length < pointsMin) return <Empty>Shown after the second run has ended.</Empty>
  const times = points.map(({ atMs }) => atMs)
  const names = points.map(({ runNo, outcome }) => `run ${runNo} ${outcome.toLowerCase()}`)
  const marks = points.flatMap(({ atMs, runNo, outcome }): ChartMark[] =>
    outcome === 'DEAD' || outcome === 'EXPIRED' ? [{ atMs, text: `run ${runNo} ${outcome.toLowerCase()}` }] : [],
  )
  const chart = (title: string, of: (point: TrendPoint) => number | undefined) => {
    const values = points.map(of)
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
        {chart('Start lateness', ({ lateMs }) => lateMs)}
        {chart('Duration', ({ durationMs }) => durationMs)}
      </div>
      <p class="aside">
        The last {count(points.length)} ended runs{history === undefined && ', as the history does not answer'}. Both values are
        those of the last attempt. Dashed lines: runs that ended dead or expired.
      </p>
    </>
  )
}

/** `runs`: those that are kept, for the errors of those that the reasons name. */
export function Reasons({ jobId, why, runs }: { jobId: string; why: JobExplanation['why']; runs: readonly Run[] }) {
  if (why.length === 0) return <Empty>Nothing is blocking this job, and no occurrence was skipped.</Empty>
  return (
    <ul class="reasons">
      {reasonGroups(why).map((group, index) => (
        <Group key={`${group.code}/${group.reasons[0]?.at}/${index}`} jobId={jobId} group={group} runs={runs} />
      ))}
    </ul>
  )
}

function Group({ jobId, group: { text, at, reasons }, runs }: { jobId: string; group: ReasonGroup; runs: readonly Run[] }) {
  const [first] = reasons
  const error = runs.find(({ runNo }) => runNo === first?.runNo)?.errors.at(-1)
  const last = reasons.at(-1)
  return (
    <li>
      <Sentence jobId={jobId} text={text} />{' '}
      {first?.isEnd && error !== undefined && (
        <>
          Its last error: <Code of={error.type} />.{' '}
        </>
      )}
      {at !== null && <When at={at} />}
      {reasons.length > 1 && (
        <details class="aside">
          <summary>
            {reasons.length} times{last?.at != null && <>, first {instant(Date.parse(last.at))}</>}
          </summary>
          <ul>
            {reasons.map((reason, index) => (
              <li key={`${reason.at}/${index}`}>
                <Sentence jobId={jobId} text={reason.text} /> {reason.at !== null && <When at={reason.at} plain />}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

const marks = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)|\b(Run \d+)\b/

/** UTC times become local ones, whose title has UTC. */
function Sentence({ jobId, text }: { jobId: string; text: string }) {
  return (
    <span>
      {text
        .split(marks)
        .filter((part) => part !== undefined && part !== '')
        .map((part, index) => {
          if (/^\d{4}-\d\d-\d\dT/.test(part))
            return (
              <time key={index} dateTime={part} title={`${part} UTC; ${viewerZone}`}>
                {instant(Date.parse(part))}
              </time>
            )
          if (!/^Run \d+$/.test(part)) return <Prose key={index} of={part} />
          return (
            <span key={index}>
              Run <RunLink jobId={jobId} runNo={Number(part.slice(4))} />
            </span>
          )
        })}
    </span>
  )
}
