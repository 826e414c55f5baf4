/** Where a topic's partition begins and ends at this moment. */
import { DuelogError } from '../errors.ts'
import type { LogAdmin } from '../ports.ts'

/** Throws DuelogError `unsafe-topic` when the topic has no such partition. */
export async function rangeOf(admin: LogAdmin, topic: string, partition: number): Promise<{ earliest: number; next: number }> {
  const found = (await admin.offsets(topic)).find((entry) => entry.partition === partition)
  if (found !== undefined) return found
  const message = `Topic ${topic} has no partition ${partition}; it has fewer than when Duelog began to use it. Give it back as many as it had.`
  throw new DuelogError('unsafe-topic', message)
}

export const endOf = async (admin: LogAdmin, topic: string, partition: number): Promise<number> =>
  (await rangeOf(admin, topic, partition)).next
