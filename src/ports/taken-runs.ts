/**
 * What a worker says of the records that it has taken from a partition of executions and cannot commit yet, in the metadata of the offset
 * that it commits. Without it, whoever measures a pool by its lag takes runs of an open batch for runs that lack a worker.
 */

export interface TakenRuns {
  /** Everything before this offset is taken. */
  reach: number
  /** Those of them that wait for a slot, or for their time. The others are at work, done, or in a batch that gathers. */
  waiting: number
  /** Handlers at work that their owners do not know: of runs that are not tracked. */
  untracked: number
  /** Runs at work in the slot of another run of their batch. */
  sharing: number
}

/** It holds this long: a worker that has died or hangs must not hide what waits. Living ones say it again before. */
export const takenKeptMs = 15_000
/** Longer metadata is by another program. */
const textMax = 300

const fields = ['reach', 'waiting', 'untracked', 'sharing', 'until'] as const

/** `nowMs`: the wall clock. */
export const takenText = (taken: TakenRuns, nowMs: number): string =>
  JSON.stringify({ ...taken, until: Math.round(nowMs) + takenKeptMs })

/** Undefined: nothing is said, it holds no more, or it is by another program. */
export function takenOf(metadata: string | undefined, nowMs: number): TakenRuns | undefined {
  if (metadata === undefined || metadata.length > textMax || !metadata.startsWith('{')) return undefined
  let said: Partial<Record<(typeof fields)[number], unknown>>
  try {
    said = JSON.parse(metadata)
  } catch {
    return undefined
  }
  const [reach, waiting, untracked, sharing, until] = fields.map((field) => said[field])
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
  if (!isCount(reach) || !isCount(waiting) || !isCount(untracked) || !isCount(sharing) || !isCount(until)) return undefined
  // A time that is far ahead comes from a clock that was wrong.
  if (until <= nowMs || until > nowMs + 2 * takenKeptMs) return undefined
  return { reach, waiting, untracked, sharing }
}
