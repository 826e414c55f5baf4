/** Retries where Kafka has no signal for "ready now": new topics, moved leaders. */
import { setTimeout as wait } from 'node:timers/promises'
import { isUnanswered, isWithoutPartitions } from './kafka-errors.ts'

const patienceMs = 20_000
const intervalMs = 50

/**
 * Temporary errors, besides a broker that does not answer: the broker does not know the topic yet, or is not its leader yet or
 * any more.
 */
const passing = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
])

/** Retries while the error is temporary, for 20 s at most. Errors of the `exceptions` types are final as well. */
export async function withRetry<Value>(ask: () => Promise<Value>, exceptions: readonly string[] = []): Promise<Value> {
  const endMs = performance.now() + patienceMs
  while (true) {
    try {
      return await ask()
    } catch (thrown) {
      const type = typeOf(thrown)
      const isPassing = passing.has(type) || isWithoutPartitions(thrown) || isUnanswered(thrown)
      if (!isPassing || exceptions.includes(type) || performance.now() >= endMs) throw thrown
    }
    await wait(intervalMs)
  }
}

function typeOf(thrown: unknown): string {
  const error = thrown as { type?: string; cause?: unknown }
  return error.type ?? (error.cause ? typeOf(error.cause) : '')
}
