/** Offsets as brokers answer them. One that is missing must not pass for 0, which is an offset like any other, nor for a number that is none. */
import { DuelogError } from '../../errors/index.ts'

/** Throws DuelogError `broker-unavailable`, naming the place, where the answer says no offset: kafkajs hands -1 and undefined on. */
export function answeredOffset(offset: string | undefined, topic: string, partition: number): number {
  if (offset !== undefined && /^\d+$/.test(offset)) return Number(offset)
  throw new DuelogError('broker-unavailable', `A broker answered for ${topic}/${partition} without an offset (${offset}).`)
}
