/** Occurrences of a fixed grid: base + k × everyMs for every whole k, without exdates. The cost does not depend on the distance. */
import { Exclusions } from './calendar.ts'

export interface Grid {
  base: number
  everyMs: number
  /** Excluded instants, in any order. */
  exdates: readonly number[]
}

/** First point strictly after an instant. */
export function nextOnGrid(grid: Grid, after: number): number {
  const { base, everyMs, exdates } = grid
  let at = base + (Math.floor((after - base) / everyMs) + 1) * everyMs
  if (exdates.length > 0) for (const excluded = excludedOf(grid); excluded.has(at); ) at += everyMs
  return at
}

/** Last point at or before an instant. */
export function latestOnGrid(grid: Grid, notAfter: number): number {
  const { base, everyMs, exdates } = grid
  let at = base + Math.floor((notAfter - base) / everyMs) * everyMs
  if (exdates.length > 0) for (const excluded = excludedOf(grid); excluded.has(at); ) at -= everyMs
  return at
}

/** Points after `after` and not after `notAfter`. */
export function countOnGrid(grid: Grid, after: number, notAfter: number): number {
  const { base, everyMs, exdates } = grid
  const count = Math.max(0, Math.floor((notAfter - base) / everyMs) - Math.floor((after - base) / everyMs))
  return exdates.length === 0 ? count : count - excludedOf(grid).countIn(after, notAfter)
}

/** By the exdates of a definition, which is never changed after it was read. One definition has one grid, unless its append time differs. */
const known = new WeakMap<readonly number[], { base: number; everyMs: number; excluded: Exclusions }>()

function excludedOf({ base, everyMs, exdates }: Grid): Exclusions {
  const kept = known.get(exdates)
  if (kept?.base === base && kept.everyMs === everyMs) return kept.excluded
  const excluded = new Exclusions(exdates, (at) => (at - base) % everyMs === 0)
  known.set(exdates, { base, everyMs, excluded })
  return excluded
}
