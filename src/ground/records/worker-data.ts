/** What workers say of themselves: in the user data of their groups, and in the metadata of the offsets that they commit. */
import { settingsSchema } from '../../../schemas/index.ts'

/** What a worker says of the executor processes that it is one of. Each carries the last decision that it knew when it joined its group. */
export interface ProcessesNote {
  /** name@host:pid:boot of their parent. */
  parent: string
  /** Processes that the parent keeps. */
  wanted: number
  /** Limits of their number. */
  min: number
  max: number
  /** Why there are so many: of a load, `start` or `cool-down`. */
  reason: string
  /** The pool whose load decided. Null: none did. */
  pool: string | null
  /** When it was decided, in epoch ms. */
  at: number
  coolDownMs: number
}

/** Undefined: the member is no executor process, or not of this version. Any client may join a group. */
export function processesNoteOf(userData: unknown): ProcessesNote | undefined {
  const { processes: note } = (userData ?? {}) as { processes?: Partial<ProcessesNote> | null }
  if (typeof note !== 'object' || note === null) return undefined
  const { parent, reason, pool, at } = note
  const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= noteCharsMax
  const counts = [note.wanted, note.min, note.max, note.coolDownMs]
  const isNote =
    isText(parent) &&
    isText(reason) &&
    (pool === null || isText(pool)) &&
    counts.every((count) => Number.isSafeInteger(count) && (count as number) >= 0) &&
    Number.isSafeInteger(at) &&
    Math.abs(at as number) <= timeMax
  return isNote ? (note as ProcessesNote) : undefined
}

const noteCharsMax = 512

/** Handlers that run at once in a worker, from its user data. Null: it does not say so, or no worker can have so many. */
export function slotsOf(userData: unknown): number | null {
  const { concurrency } = (userData ?? {}) as { concurrency?: unknown }
  const isCount = Number.isInteger(concurrency) && (concurrency as number) >= 1 && (concurrency as number) <= slotsMax
  return isCount ? (concurrency as number) : null
}

/** The release of a worker, from its user data. */
export function versionOf(userData: unknown): string | null {
  const { version } = (userData ?? {}) as { version?: unknown }
  return typeof version === 'string' && version.length <= versionCharsMax ? version : null
}

const slotsMax = settingsSchema.properties.DUELOG_CONCURRENCY.maximum
const versionCharsMax = 64
/** The latest time of a Date. */
const timeMax = 8.64e15

/** Names that are read of one member; our own workers announce fewer. Any client may join a group. */
const handlersReadMax = 1_000
/** As in definitions. */
const handlerCharsMax = 128

/** The names of a worker's handlers, from its user data. Null: it does not announce them, and may have any. */
export function handlersOf(userData: unknown): string[] | null {
  const { handlers } = (userData ?? {}) as { handlers?: unknown }
  if (!Array.isArray(handlers) || handlers.length > handlersReadMax) return null
  return handlers.every((name) => typeof name === 'string' && name.length <= handlerCharsMax) ? handlers : null
}

/**
 * What a worker says of the records that it has taken from a partition of executions and cannot commit yet, in the metadata of the offset
 * that it commits. Without it, whoever measures a pool by its lag takes runs of an open batch for runs that lack a worker.
 */
export interface TakenRuns {
  /** Everything before this offset is taken. */
  reach: number
  /** Those of them that wait for a slot, or for their time. The others are at work, done, or in a batch that gathers. */
  waiting: number
  /** Runs at work in the slot of another run of their batch. */
  sharing: number
}

/** It holds this long: a worker that has died or hangs must not hide what waits. Living ones say it again before. */
export const takenKeptMs = 15_000
/** Longer metadata is by another program. */
const textMax = 4_000

const fields = ['reach', 'waiting', 'sharing', 'until'] as const

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
  const [reach, waiting, sharing, until] = fields.map((field) => said[field])
  if (!isCount(reach) || !isCount(waiting) || !isCount(sharing) || !isCount(until)) return undefined
  // A time that is far ahead comes from a clock that was wrong.
  if (until <= nowMs || until > nowMs + 2 * takenKeptMs) return undefined
  return { reach, waiting, sharing }
}

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
