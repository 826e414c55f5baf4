/** Occurrences of a fixed grid: base + k × everyMs for every whole k. The cost does not depend on the distance. */
export interface Grid {
  base: number
  everyMs: number
}

/** First point strictly after an instant. */
export function nextPoint({ base, everyMs }: Grid, after: number): number {
  return base + (Math.floor((after - base) / everyMs) + 1) * everyMs
}

/** Last point at or before an instant. */
export function latestPoint({ base, everyMs }: Grid, notAfter: number): number {
  return base + Math.floor((notAfter - base) / everyMs) * everyMs
}

/** Points after `after` and not after `notAfter`. */
export function countPoints({ base, everyMs }: Grid, after: number, notAfter: number): number {
  return Math.max(0, Math.floor((notAfter - base) / everyMs) - Math.floor((after - base) / everyMs))
}
