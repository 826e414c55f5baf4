/** Where in a store the jobs of a filter stand: which index finds them, and which keys have ids that begin so. */
import { type IndexKind, indexKind, isIndexedStatus } from '../../streams/job-index.ts'
import { definitionKey, prefix, rangeOf } from '../../streams/keys.ts'
import type { JobFilter } from '../ports.ts'

/** Keys of the definitions whose id begins so. No byte of UTF-8 is 255, so one more in the last place is beyond them all. */
export function idRange(idPrefix = ''): { from: Buffer; to: Buffer } {
  if (idPrefix === '') return rangeOf(prefix.definition)
  const from = definitionKey(idPrefix)
  const to = Buffer.from(from)
  to[to.length - 1] = (to[to.length - 1] ?? 0) + 1
  return { from, to }
}

export interface Index {
  kind: IndexKind
  value: string
}

/** The index that finds the fewest jobs beside those that are wanted. */
export function indexFor({ dead, status, tag }: JobFilter): Index | undefined {
  if (dead === true) return { kind: indexKind.dead, value: '' }
  if (status !== undefined && isIndexedStatus(status)) return { kind: indexKind.status, value: status }
  return tag === undefined ? undefined : { kind: indexKind.tag, value: tag }
}

export const afterId = (id: string): Buffer => Buffer.concat([definitionKey(id), Buffer.of(0)])
