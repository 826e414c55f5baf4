/**
 * Lets kafkajs's admin client ask for the end of a log including open transactions. kafkajs asks like a reader of committed
 * records and has no option for it. So its request is replaced, for our own lookups only.
 */
import { createRequire } from 'node:module'
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
