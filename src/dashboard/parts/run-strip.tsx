/** Timeline of the last runs, oldest left: when each was due, how long it took, how it ended. */
import { counted, duration, instant, nowMs, type Run, statusWord } from '../model/index.ts'

/** Smallest visible width of a run, as a share of the strip. */
const shareMin = 0.006

export function RunStrip({ runs }: { runs: readonly Run[] }) {
  const spans = runs.map((run) => {
    const dueMs = Date.parse(run.dueAt ?? run.scheduledFor)
    const fromMs = run.startedAt === null ? dueMs : Date.parse(run.startedAt)
    return { run, fromMs, toMs: run.finishedAt === null ? Math.max(nowMs.value, fromMs) : Date.parse(run.finishedAt) }
  })
  const first = Math.min(...spans.map(({ fromMs }) => fromMs))
  const last = Math.max(...spans.map(({ toMs }) => toMs))
  const width = Math.max(1, last - first)
  return (
    <figure class="strip">
      <svg
        viewBox="0 0 1000 20"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${counted(runs.length, 'run')} from ${instant(first)} to ${instant(last)}`}
      >
        {spans.map(({ run, fromMs, toMs }) => (
          <rect
            key={run.runNo}
            class={`bar ${run.status}`}
            x={Math.min(((fromMs - first) / width) * 1_000, 1_000 - shareMin * 1_000)}
            y={2}
            height={16}
            width={Math.max(((toMs - fromMs) / width) * 1_000, shareMin * 1_000)}
          >
            <title>{`Run ${run.runNo}: ${statusWord(run.status)}, ${duration(toMs - fromMs)}`}</title>
          </rect>
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
