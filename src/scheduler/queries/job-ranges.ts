/** Where in a store the jobs of a filter stand: which index finds them, and which keys have ids that begin so. */
import {
  definitionKey,
  type IndexKind,
  indexKind,
  indexRange,
  isIndexedStatus,
  jobIdOfIndexKey,
  jobIdOfKey,
  keyAfter,
  stateKey,
} from '../../../streams/state/index.ts'
import type { JobFilter } from '../../ports/index.ts'

/** Keys whose id begins so. No byte of UTF-8 is 255, so one more in the last place is beyond them all. */
function idRange(keyOf: (id: string) => Buffer, idPrefix = ''): { from: Buffer; to: Buffer } {
  const from = keyOf(idPrefix)
  const to = Buffer.from(from)
  to[to.length - 1] = (to[to.length - 1] ?? 0) + 1
  return { from, to }
}

/** A way through a store that meets all jobs of a filter, in the order of their ids. */
export interface Walk {
  /** The keys behind a job's place; all without one. */
  rangeAfter(jobId: string | undefined): { from: Buffer; to: Buffer }
  idOf(key: Buffer): string
  /** Whether it meets few others, because an index leads it. */
  isNarrow: boolean
}

export function walkOf(filter: JobFilter): Walk {
  const { idPrefix, status } = filter
  // The beginning of an id narrows more than any index does, and the scan begins there.
  const index = idPrefix === undefined ? indexFor(filter) : undefined
  if (index !== undefined) {
    const { kind, value } = index
    return {
      rangeAfter: (jobId) => indexRange(kind, value, jobId),
      idOf: (key) => jobIdOfIndexKey(key, value),
      isNarrow: true,
    }
  }
  // A job that has not run yet has no state in the store, and is not completed.
  const keyOf = status === 'COMPLETED' ? stateKey : definitionKey
  const { from, to } = idRange(keyOf, idPrefix)
  const behind = (jobId: string): Buffer => (jobId < (idPrefix ?? '') ? from : keyAfter(keyOf(jobId)))
  return { rangeAfter: (jobId) => ({ from: jobId === undefined ? from : behind(jobId), to }), idOf: jobIdOfKey, isNarrow: false }
}

/** The index that finds the fewest jobs beside those that are wanted. */
function indexFor({ dead, status, tag }: JobFilter): { kind: IndexKind; value: string } | undefined {
  if (dead === true) return { kind: indexKind.dead, value: '' }
  if (status !== undefined && isIndexedStatus(status)) return { kind: indexKind.status, value: status }
  return tag === undefined ? undefined : { kind: indexKind.tag, value: tag }
}
