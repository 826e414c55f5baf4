/** What the members of a pool's group announce about themselves. Part of log.ts. */

import { settingsSchema } from '../../schemas/index.ts'
import { DuelogError } from '../errors/index.ts'

/**
 * The brokers cannot keep a group and give no reason. Nearly always the user data of its members is together larger than a record may be:
 * a broker writes all of it as one record. Then no member can join, and those that were there have lost their partitions.
 */
export class GroupNotKept extends DuelogError {
  constructor(groupId: string, cause: unknown) {
    super(
      'broker-unavailable',
      `The brokers cannot keep group ${groupId} and give no reason. Usually its members announce more together than message.max.bytes of the brokers allows (default 1 MiB).`,
      { cause },
    )
  }
}

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

/** How many workers a pool needs for its load, and why. */
export interface PoolNeed {
  pool: string
  wanted: number
  reason: 'idle' | 'running' | 'backlog' | 'forecast' | 'arrivals' | 'lateness' | 'owners-unknown'
  /** Runs that could have started and have not. */
  backlog: number
  /** Runs that come due within 30 s. */
  forecast: number
  /** How long the oldest of the backlog has waited at least. */
  lateMs: number
}

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
