/** How late the handlers of a partition started in the last minutes, as their workers reported. */
import { percentileOf } from '../../../streams/text/index.ts'
import type { StartLateness } from '../../ports/index.ts'

const minutes = 5
const minuteMs = 60_000
/** Each class ends 25% above the one before it, the first at 1 ms, the last beyond a day. */
const classes = 84
const boundOf = (index: number): number => 1.25 ** index

interface Minute {
  /** Minutes since the epoch. */
  at: number
  starts: number
  maxMs: number
  counts: Uint32Array
}

export class RecentLateness {
  /** By minute; the oldest is overwritten. */
  readonly #minutes: (Minute | undefined)[] = []

  add(lateMs: readonly number[], nowMs: number): void {
    if (lateMs.length === 0) return
    const minute = this.#minuteOf(nowMs)
    for (const late of lateMs) {
      const index = late <= 1 ? 0 : Math.min(classes - 1, Math.ceil(Math.log(late) / Math.log(1.25)))
      minute.counts[index] = (minute.counts[index] ?? 0) + 1
      minute.starts++
      minute.maxMs = Math.max(minute.maxMs, late)
    }
  }

  /** Null: nothing has started. Percentiles are exact to 25%. */
  view(nowMs: number): StartLateness | null {
    const oldest = Math.floor(nowMs / minuteMs) - minutes
    const recent = this.#minutes.flatMap((minute) => (minute !== undefined && minute.at > oldest ? [minute] : []))
    const starts = recent.reduce((sum, minute) => sum + minute.starts, 0)
    if (starts === 0) return null
    const maxMs = Math.max(...recent.map((minute) => minute.maxMs))
    const counts = Array.from({ length: classes }, (_, index): [number, number] => [
      boundOf(index),
      recent.reduce((sum, minute) => sum + (minute.counts[index] ?? 0), 0),
    ])
    const percentile = (share: number): number => Math.min(maxMs, Math.round(percentileOf(counts, share) ?? 0))
    return { starts, p50Ms: percentile(0.5), p99Ms: percentile(0.99), maxMs }
  }

  #minuteOf(nowMs: number): Minute {
    const at = Math.floor(nowMs / minuteMs)
    const known = this.#minutes[at % minutes]
    if (known?.at === at) return known
    const begun = { at, starts: 0, maxMs: 0, counts: new Uint32Array(classes) }
    this.#minutes[at % minutes] = begun
    return begun
  }
}
