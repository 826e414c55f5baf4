/** Offsets in answers of brokers. A missing offset must not be read as 0, because 0 is a valid offset, and never as NaN. */
import { DuelogError } from '../../errors/index.ts'

/**
 * Throws DuelogError `broker-unavailable`, naming the partition, if the answer has no offset: kafkajs passes -1 and undefined on.
 */
export function answeredOffset(offset: string | undefined, topic: string, partition: number): number {
  if (offset !== undefined && /^\d+$/.test(offset)) return Number(offset)
  throw new DuelogError('broker-unavailable', `A broker answered for ${topic}/${partition} without an offset (${offset}).`)
}
