/**
 * Offset lookups and their answers.
 *
 * kafkajs's admin client asks for the end of a log like a reader of committed records, without open transactions, and has no
 * option for anything else. So its request is replaced, for our own lookups only.
 *
 * A missing offset in an answer must not be read as 0, because 0 is a valid offset, and never as NaN.
 */
import { createRequire } from 'node:module'
import { DuelogError } from '../../errors/index.ts'
import { replaced } from './overrides.ts'

interface ListOffsets {
  protocol(of: { version: number }): (request: object) => unknown
}

const readUncommitted = 0

/** Runs offset lookups that count all records, whatever the state of their transactions. */
export const uncommitted = replaced(install)

function install(isOurs: () => boolean): void {
  const requests = createRequire(import.meta.url)('kafkajs/src/protocol/requests/listOffsets/index.js') as ListOffsets
  const usual = requests.protocol
  requests.protocol = (of) => {
    const make = usual(of)
    return (request) => make(isOurs() ? { ...request, isolationLevel: readUncommitted } : request)
  }
}

/**
 * Throws DuelogError `broker-unavailable`, naming the partition, if the answer has no offset: kafkajs passes -1 and undefined on.
 */
export function answeredOffset(offset: string | undefined, topic: string, partition: number): number {
  if (offset !== undefined && /^\d+$/.test(offset)) return Number(offset)
  throw new DuelogError('broker-unavailable', `A broker answered for ${topic}/${partition} without an offset (${offset}).`)
}
