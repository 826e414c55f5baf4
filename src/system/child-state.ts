/** What an executor process tells its parent of itself, over its IPC channel: that it is a member of the groups of its pools. */
import type { Channel } from './child-metrics.ts'

const joined = 'duelog:joined'

export function tellJoined(channel: Pick<Channel, 'send'>): void {
  channel.send?.({ state: joined }, () => {})
}

export const isJoined = (message: unknown): boolean => (message as { state?: unknown } | null)?.state === joined
