/**
 * Lets an admin of kafkajs ask where a log ends as brokers count it, with what stands behind an open transaction. kafkajs asks as readers
 * of committed records do and has no place for anything else, so what it asks with is replaced, in our own questions alone.
 */
import { createRequire } from 'node:module'
import { replaced } from './overrides.ts'

interface ListOffsets {
  protocol(of: { version: number }): (request: object) => unknown
}

const readUncommitted = 0

/** Runs questions about offsets that count all records, whatever becomes of their transactions. */
export const uncommitted = replaced(install)

function install(isOurs: () => boolean): void {
  const requests = createRequire(import.meta.url)('kafkajs/src/protocol/requests/listOffsets/index.js') as ListOffsets
  const usual = requests.protocol
  requests.protocol = (of) => {
    const make = usual(of)
    return (request) => make(isOurs() ? { ...request, isolationLevel: readUncommitted } : request)
  }
}
