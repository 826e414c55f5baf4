/** Where a topic's partition begins and ends at this moment. */
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

/** Where readers of committed records can get to. All records of a log may have expired: then its end is never read, nor need it be. */
export const readableEnd = ({ earliest, next }: { earliest: number; next: number }): number => (earliest < next ? next : 0)

/** A log does not shrink by itself. `next`: up to where it was read before it was seen to end at `end`. */
export function shrunk(topic: string, partition: number, end: number, next: number): DuelogError {
  const message = `${topic}/${partition} ends at ${end} and was read up to ${next}: it was truncated, or deleted and made anew.`
  return new DuelogError('log-shrunk', message)
}

/**
 * Where the first of the records went that a write has brought to a partition. Throws DuelogError `broker-unavailable` where the answer does
 * not say it: taken for 0, it would mean that the log is another one (ADR 0049). What became of the write is found out by the next claim.
 */
export function firstOffset(offsets: ReadonlyMap<string, number>, topic: string, partition: number): number {
  const offset = offsets.get(`${topic}/${partition}`)
  if (offset !== undefined) return offset
  throw new DuelogError('broker-unavailable', `What was written to ${topic}/${partition} was acknowledged without its offset.`)
}
