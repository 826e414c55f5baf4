/** Timeline of the last runs, oldest left: when each was due, how long it waited and ran, how it ended. */
import { counted, duration, instant, isActive, isStarted, nowMs, type Run, statusWord } from '../model/index.ts'

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
