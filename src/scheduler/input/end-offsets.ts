/** First and end offset of one partition of a topic, and the errors when they are not as expected. */
import { DuelogError } from '../../errors/index.ts'
import type { LogAdmin } from '../../ports/index.ts'

/** Throws DuelogError `unsafe-topic` when the topic has no such partition. */
export async function rangeOf(admin: LogAdmin, topic: string, partition: number): Promise<{ earliest: number; next: number }> {
  const found = (await admin.offsets(topic)).find((entry) => entry.partition === partition)
  if (found !== undefined) return found
  throw withoutPartition(topic, partition)
}

export function withoutPartition(topic: string, partition: number): DuelogError {
  const message = `Topic ${topic} has no partition ${partition}; it has fewer than when Duelog began to use it. Give it back as many as it had.`
  return new DuelogError('unsafe-topic', message)
}

export const endOf = async (admin: LogAdmin, topic: string, partition: number): Promise<number> =>
  (await rangeOf(admin, topic, partition)).next

/** The end that readers of committed records can reach; 0 if all records have expired, because then there is nothing to read. */
export const readableEnd = ({ earliest, next }: { earliest: number; next: number }): number => (earliest < next ? next : 0)

/** The error for a log that ends at `end` although it was read up to `next`. A log does not shrink by itself. */
export function shrunk(topic: string, partition: number, end: number, next: number): DuelogError {
  const message = `${topic}/${partition} ends at ${end} and was read up to ${next}: it was truncated, or deleted and made anew.`
  return new DuelogError('log-shrunk', message)
}

/**
 * Offset of the first record that a write has appended to a partition. Throws DuelogError `broker-unavailable` if the answer lacks it.
 * A missing offset must not be read as 0, because that would mean that the log is another one (ADR 0049). The next claim finds out
 * whether the write succeeded.
 */
export function firstOffset(offsets: ReadonlyMap<string, number>, topic: string, partition: number): number {
  const offset = offsets.get(`${topic}/${partition}`)
  if (offset !== undefined) return offset
  throw new DuelogError('broker-unavailable', `What was written to ${topic}/${partition} was acknowledged without its offset.`)
}
