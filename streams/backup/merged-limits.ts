/** Limits of partitions that become one: slots are added, and starts are in one order. */
import type { KeyStarts } from '../../schemas/index.ts'
import { StartTimes, startsEntry, startsOf } from '../state/index.ts'

/** Starts under one key from several partitions. A rate that all of them together have used up gives no start before its window is over. */
export function mergedStarts(all: readonly KeyStarts[]): KeyStarts {
  const each = all.map(startsOf)
  const times = each.flatMap((starts) => [...starts.times]).sort((a, b) => a - b)
  const limit = Math.max(...each.map((starts) => starts.limit))
  const perMs = Math.max(...each.map((starts) => starts.perMs))
  const given = each.flatMap(({ givenAt }) => givenAt ?? [])
  const givenAt = given.length < each.length ? null : Math.max(...given)
  return startsEntry({ times: StartTimes.of(times.slice(-limit)), limit, perMs, givenAt })
}
