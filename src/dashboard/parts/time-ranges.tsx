/** Links that set the times of a filter to the days that people ask for most, in the viewer's zone. */

interface TimeRangesProps {
  href: string
  /** The filter; its times are those of `from` and `to`. */
  query: URLSearchParams
}

export function TimeRanges({ href, query }: TimeRangesProps) {
  const ranges = [
    ['today', midnight(0), undefined],
    ['yesterday', midnight(-1), midnight(0)],
    ['last 7 days', midnight(-6), undefined],
  ] as const
  return (
    <nav class="choice" aria-label="Time range">
      {ranges.map(([title, from, to]) => {
        const other = new URLSearchParams(query)
        for (const name of ['cursor', 'to']) other.delete(name)
        other.set('from', from)
        if (to !== undefined) other.set('to', to)
        const isShown = query.get('from') === from && (query.get('to') ?? undefined) === to
        return (
          <a key={title} href={`${href}?${other}`} aria-current={isShown ? 'true' : undefined}>
            {title}
          </a>
        )
      })}
    </nav>
  )
}

/** The beginning of today, or of a day before it. */
function midnight(days: number): string {
  const at = new Date()
  at.setHours(0, 0, 0, 0)
  at.setDate(at.getDate() + days)
  return at.toISOString()
}
