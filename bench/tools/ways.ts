/** The way of a job through the processes, put together from the marks of each of them (path-marks.ts). */
import type { Marks } from './path-marks.ts'
import { Timings } from './timings.ts'

export interface Way extends Marks {
  /** The client was called, and its promise resolved. */
  sent: number
  acknowledged?: number
}

/** Percentiles of the time between two marks, in ms. */
export function spreadOf(ways: readonly Way[], from: keyof Way, to: keyof Way): Record<string, number> {
  const timings = new Timings()
  for (const way of ways) {
    const [begin, end] = [way[from], way[to]]
    if (begin !== undefined && end !== undefined) timings.record(end - begin)
  }
  return { ...timings.spread, count: timings.count }
}
