/**
 * Lets an admin of kafkajs ask where a log ends as brokers count it, with what stands behind an open transaction. kafkajs asks as readers
 * of committed records do and has no place for anything else, so what it asks with is replaced, in our own questions alone.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { createRequire } from 'node:module'

interface ListOffsets {
  protocol(of: { version: number }): (request: object) => unknown
}

const readUncommitted = 0
/** Set in all that is asked within `uncommitted`. */
const ours = new AsyncLocalStorage<true>()
let done = false

/** Runs questions about offsets that count all records, whatever becomes of their transactions. */
export function uncommitted<Value>(ask: () => Value): Value {
  if (!done) install()
  done = true
  return ours.run(true, ask)
}

function install(): void {
  const requests = createRequire(import.meta.url)('kafkajs/src/protocol/requests/listOffsets/index.js') as ListOffsets
  const usual = requests.protocol
  requests.protocol = (of) => {
    const make = usual(of)
    return (request) => make(ours.getStore() === undefined ? request : { ...request, isolationLevel: readUncommitted })
  }
}
