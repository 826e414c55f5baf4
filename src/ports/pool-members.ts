/** What the members of a pool's group announce about themselves. Part of log.ts. */

/** Names that are read of one member; our own workers announce fewer. Any client may join a group. */
const handlersReadMax = 1_000

/** The names of a worker's handlers, from its user data. Null: it does not announce them, and may have any. */
export function handlersOf(userData: unknown): string[] | null {
  const { handlers } = (userData ?? {}) as { handlers?: unknown }
  if (!Array.isArray(handlers) || handlers.length > handlersReadMax) return null
  return handlers.every((name) => typeof name === 'string') ? handlers : null
}
