/** Rates and percentiles between two stats messages. Their counts only grow, so the difference is what happened between them. */

import { percentileOf } from '../../../streams/text/index.ts'
import type { Counts, StatsMessage } from '../../answers/index.ts'

export interface Rates {
  /** Length of the interval. */
  overMs: number
  firesPerSecond: number
  endsPerSecond: number
  retriesPerSecond: number
  /** Runs that became dead letters. */
  dead: number
  starts: number
  /** Start lateness in ms; undefined when nothing started. */
  p50Ms: number | undefined
  p99Ms: number | undefined
}

/** Undefined when the two cannot be compared, because a process ended between them and its counts are gone. */
export function ratesBetween(earlier: StatsMessage, later: StatsMessage): Rates | undefined {
  const overMs = later.at - earlier.at
  const [from, to] = [earlier.counts, later.counts]
  const fires = firesOf(to) - firesOf(from)
  const ends = endsOf(to) - endsOf(from)
  const retries = to.retries - from.retries
  const late = to.lateness.map(([upToMs, starts], index): [upToMs: number | null, starts: number] => [
    upToMs,
    starts - (from.lateness[index]?.[1] ?? 0),
  ])
  if (overMs <= 0 || fires < 0 || ends < 0 || retries < 0 || late.some(([, starts]) => starts < 0)) return undefined
  const perSecond = (count: number): number => (count * 1_000) / overMs
  return {
    overMs,
    firesPerSecond: perSecond(fires),
    endsPerSecond: perSecond(ends),
    retriesPerSecond: perSecond(retries),
    dead: (to.ended.DEAD ?? 0) - (from.ended.DEAD ?? 0),
    starts: late.reduce((sum, [, starts]) => sum + starts, 0),
    p50Ms: percentileOf(late, 0.5),
    p99Ms: percentileOf(late, 0.99),
  }
}

/** Compares the last message with the one `windowMs` before it, or with the first one. */
export function ratesOver(messages: readonly StatsMessage[], windowMs: number): Rates | undefined {
  const last = messages.at(-1)
  if (last === undefined) return undefined
  const first = messages.find(({ at }) => at >= last.at - windowMs)
  return first === undefined || first === last ? undefined : ratesBetween(first, last)
}

const firesOf = ({ dispatched, written }: Counts): number => dispatched + written
const endsOf = ({ ended }: Counts): number => Object.values(ended).reduce<number>((sum, count) => sum + (count ?? 0), 0)
