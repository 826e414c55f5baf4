/** A time in the viewer's time zone, its distance from now, and the time in the job's zone where it differs. */
import { instant, nowMs, relative, viewerZone } from '../model/index.ts'

interface WhenProps {
  at: string | null | undefined
  /** Time zone of the job. */
  zone?: string | undefined
  /** Without the distance from now. */
  plain?: boolean
  /** With milliseconds, and without the day if it is that of this time. */
  onDayOf?: string
  /** Only the distance from now. */
  brief?: boolean
}

export function When({ at, zone, plain = false, onDayOf, brief = false }: WhenProps) {
  if (at === null || at === undefined) return <span class="none">—</span>
  const atMs = Date.parse(at)
  if (brief) {
    return (
      <time class="brief" dateTime={at} title={`${instant(atMs)} ${viewerZone}`}>
        {relative(atMs, nowMs.value)}
      </time>
    )
  }
  const elsewhere = zone !== undefined && instant(atMs, zone) !== instant(atMs)
  return (
    <span class="when">
      <time dateTime={at} title={`${at} · ${viewerZone}`}>
        {onDayOf === undefined ? instant(atMs) : preciseText(atMs, Date.parse(onDayOf))}
      </time>
      {!plain && <span class="aside">{relative(atMs, nowMs.value)}</span>}
      {elsewhere && (
        <span class="aside">
          {instant(atMs, zone)} {zone}
        </span>
      )}
    </span>
  )
}

/** `10:05:00.250`, with the day if it is another than that of `dayMs`. */
function preciseText(atMs: number, dayMs: number): string {
  const [whole, day] = [instant(atMs), instant(dayMs)]
  const time = `${whole.slice(-8)}.${String(atMs % 1_000).padStart(3, '0')}`
  return whole.slice(0, -8) === day.slice(0, -8) ? time : `${whole.slice(0, -8)}${time}`
}
