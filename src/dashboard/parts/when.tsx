/** A time in the viewer's zone, how far it is from now, and in the job's own zone where that is another. */
import { nowMs } from '../live.ts'
import { instant, relative, viewerZone } from '../words.ts'

interface WhenProps {
  at: string | null | undefined
  /** Zone of the job. */
  zone?: string | undefined
  /** Without how far it is. */
  plain?: boolean
}

export function When({ at, zone, plain = false }: WhenProps) {
  if (at === null || at === undefined) return <span class="none">—</span>
  const atMs = Date.parse(at)
  const elsewhere = zone !== undefined && instant(atMs, zone) !== instant(atMs)
  return (
    <span class="when">
      <time dateTime={at} title={`${at} · ${viewerZone}`}>
        {instant(atMs)}
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
