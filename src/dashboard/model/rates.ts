/** Rates and percentiles from two pulses: the counts in them only grow, so what happened between them is a difference. */
import type { Counts, StatsMessage } from './answers.ts'

export interface Rates {
  /** Over how long. */
  overMs: number
  firesPerSecond: number
  endsPerSecond: number
  retriesPerSecond: number
  /** Runs that became dead letters. */
  dead: number
  starts: number
  /** Start lateness in ms; undefined where nothing was started. */
  p50Ms: number | undefined
  p99Ms: number | undefined
}

/** Undefined when they cannot be compared: a process ended between them, and its counts with it. */
export function ratesBetween(earlier: StatsMessage, later: StatsMessage): Rates | undefined {
  const overMs = later.at - earlier.at
  const [from, to] = [earlier.counts, later.counts]
  const fires = firesOf(to) - firesOf(from)
  const ends = endsOf(to) - endsOf(from)
  const retries = to.retries - from.retries
  const late = to.lateness.map(([upToMs, starts], index): Counts['lateness'][number] => [
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
    p50Ms: percentile(late, 0.5),
    p99Ms: percentile(late, 0.99),
  }
}

/** The last pulse against the one `windowMs` before it, or the first there is. */
export function ratesOver(pulses: readonly StatsMessage[], windowMs: number): Rates | undefined {
  const last = pulses.at(-1)
  if (last === undefined) return undefined
  const first = pulses.find(({ at }) => at >= last.at - windowMs)
  return first === undefined || first === last ? undefined : ratesBetween(first, last)
}

/** Within its class a value is taken to lie where its rank does; beyond the last bound it is that bound. */
export function percentile(classes: Counts['lateness'], share: number): number | undefined {
  const total = classes.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return undefined
  let left = share * total
  let lowerMs = 0
  for (const [upToMs, count] of classes) {
    if (upToMs === null) return lowerMs
    if (count > 0 && left <= count) return lowerMs + (left / count) * (upToMs - lowerMs)
    left -= count
    lowerMs = upToMs
  }
  return lowerMs
}

const firesOf = ({ dispatched, written }: Counts): number => dispatched + written
const endsOf = ({ ended }: Counts): number => Object.values(ended).reduce<number>((sum, count) => sum + (count ?? 0), 0)
