/** What an executor process tells its parent of itself, over its IPC channel: the name under which it has joined the groups of its pools. */
import type { Channel } from './child-metrics.ts'

const joined = 'duelog:joined'

export function tellJoined(channel: Pick<Channel, 'send'>, instance: string): void {
  channel.send?.({ state: joined, instance }, () => {})
}

/** Its name@host:pid:boot; undefined: another message. */
export function joinedAs(message: unknown): string | undefined {
  const { state, instance } = (message ?? {}) as { state?: unknown; instance?: unknown }
  return state === joined && typeof instance === 'string' ? instance : undefined
}
