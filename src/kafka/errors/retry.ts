/** Retries where Kafka has no signal for "ready now": new topics, moved leaders. */
import { setTimeout as wait } from 'node:timers/promises'
import { isUnanswered, isWithoutPartitions } from './kafka-errors.ts'

const retriesMsMax = 20_000
const intervalMs = 50

/**
 * Temporary errors, besides a broker that does not answer. The broker does not know the topic yet, or it does not lead the
 * partition yet, or it has ceased to lead it.
 */
const passing = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'REPLICA_NOT_AVAILABLE',
  'FENCED_LEADER_EPOCH',
  'UNKNOWN_LEADER_EPOCH',
])

/** Retries after each of these waits while the error is temporary; then throws it. */
export async function retryWhile<Value>(
  isPassing: (thrown: unknown) => boolean,
  waitsMs: Iterable<number>,
  ask: () => Promise<Value>,
): Promise<Value> {
  const waits = waitsMs[Symbol.iterator]()
  while (true) {
    try {
      return await ask()
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown
      const next = waits.next()
      if (next.done === true) throw thrown
      await wait(next.value)
    }
  }
}

/** Retries while the error is temporary, for 20 s at most. Errors of the `exceptions` types are final as well. */
export function withRetry<Value>(ask: () => Promise<Value>, exceptions: readonly string[] = []): Promise<Value> {
  const isPassing = (thrown: unknown): boolean => {
    const type = typeOf(thrown)
    return (passing.has(type) || isWithoutPartitions(thrown) || isUnanswered(thrown)) && !exceptions.includes(type)
  }
  return retryWhile(isPassing, waitsUntil(performance.now() + retriesMsMax), ask)
}

function* waitsUntil(endMs: number): Generator<number> {
  while (performance.now() < endMs) yield intervalMs
}

function typeOf(thrown: unknown): string {
  const error = thrown as { type?: string; cause?: unknown }
  return error.type ?? (error.cause ? typeOf(error.cause) : '')
}
