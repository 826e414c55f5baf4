/** How late handlers start, in counts that need little memory: exact below 100 ms, then within one percent. */

/** Plain data, so that it can be stored. */
export interface LatenessCounts {
  counts: number[]
  max: number
}

/** Start of a first attempt after the time it was due, in ms. */
export interface Lateness {
  p50: number
  p99: number
  max: number
}

const exactMs = 100
const steps = 1.01

export const emptyLateness = (): LatenessCounts => ({ counts: [], max: 0 })

export function noteLateness(lateness: LatenessCounts, lateMs: number): void {
  const late = Math.max(0, Math.round(lateMs))
  const slot = late < exactMs ? late : exactMs + Math.floor(Math.log(late / exactMs) / Math.log(steps))
  while (lateness.counts.length <= slot) lateness.counts.push(0)
  lateness.counts[slot] = (lateness.counts[slot] ?? 0) + 1
  lateness.max = Math.max(lateness.max, late)
}

/** Undefined when nothing started. */
export function latenessOf({ counts, max }: LatenessCounts): Lateness | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const of = (share: number): number => {
    let left = Math.ceil(total * share)
    const slot = counts.findIndex((count) => {
      left -= count
      return left <= 0
    })
    return Math.min(max, slot < exactMs ? slot : Math.round(exactMs * steps ** (slot - exactMs + 1)))
  }
  return { p50: of(0.5), p99: of(0.99), max }
}

/** The rows of a closing table: name and value. */
export function latenessRows(lateness: Lateness | undefined): [name: string, value: string][] {
  const names = ['p50', 'p99', 'max'] as const
  const text = (ms: number | undefined): string => (ms === undefined ? 'unknown' : `${ms.toLocaleString('en-US')} ms`)
  return names.map((name) => [`start lateness, ${name}`, text(lateness?.[name])])
}
