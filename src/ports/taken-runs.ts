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
  /** Offsets of untracked runs that workers died with, each with the number of its starts since then. Absent: there are none. */
  restarts?: [offset: number, count: number][]
}

/** It holds this long: a worker that has died or hangs must not hide what waits. Living ones say it again before. */
export const takenKeptMs = 15_000
/** Longer metadata is by another program. */
const textMax = 4_000
/** Restarts that it names. */
const restartsMax = 100

const fields = ['reach', 'waiting', 'untracked', 'sharing', 'until'] as const

/** `nowMs`: the wall clock. */
export const takenText = (taken: TakenRuns, nowMs: number): string =>
  JSON.stringify({ ...taken, restarts: taken.restarts?.slice(0, restartsMax), until: Math.round(nowMs) + takenKeptMs })

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
  if (!isCount(reach) || !isCount(waiting) || !isCount(untracked) || !isCount(sharing) || !isCount(until)) return undefined
  // A time that is far ahead comes from a clock that was wrong.
  if (until <= nowMs || until > nowMs + 2 * takenKeptMs) return undefined
  return { reach, waiting, untracked, sharing }
}

/** How often each untracked run was started since a worker died with it, by its offset. */
export function restartsOf(metadata: string | undefined): Map<number, number> {
  if (metadata === undefined || metadata.length > textMax || !metadata.includes('"restarts"')) return new Map()
  try {
    const { restarts } = JSON.parse(metadata) as { restarts?: unknown }
    if (!Array.isArray(restarts)) return new Map()
    return new Map(restarts.slice(0, restartsMax).filter(isPair))
  } catch {
    return new Map()
  }
}

const isPair = (value: unknown): value is [number, number] => Array.isArray(value) && value.length === 2 && value.every(isCount)

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** How long the mark of a closed partition holds: its next reader begins within this time, and what it does with it is committed after it. */
export const closedKeptMs = 60_000

/** The metadata of the last offset that a worker commits when all that it has started of a partition is committed. */
export const closedText = (nowMs: number): string => JSON.stringify({ closedUntil: Math.round(nowMs) + closedKeptMs })

/** Whether the last reader of a partition left it so. Otherwise it may have died while it ran something of it. */
export function isClosed(metadata: string | undefined, nowMs: number): boolean {
  const until = /^\{"closedUntil":(\d{1,15})\}$/.exec(metadata ?? '')?.[1]
  return until !== undefined && nowMs < Number(until) && Number(until) <= nowMs + 2 * closedKeptMs
}
