/** What the members of a pool's group announce about themselves. Part of log.ts. */

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

/** Names that are read of one member; our own workers announce fewer. Any client may join a group. */
const handlersReadMax = 1_000

/** The names of a worker's handlers, from its user data. Null: it does not announce them, and may have any. */
export function handlersOf(userData: unknown): string[] | null {
  const { handlers } = (userData ?? {}) as { handlers?: unknown }
  if (!Array.isArray(handlers) || handlers.length > handlersReadMax) return null
  return handlers.every((name) => typeof name === 'string') ? handlers : null
}
