/** Key ranges of a filter in a store: the index that finds its jobs, or the keys with its id prefix. */
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
import type { JobFilter } from '../../ground/ports/index.ts'

/** Keys with this id prefix. No byte of UTF-8 is 255, so the prefix with its last byte plus one is above them all. */
function idRange(keyOf: (id: string) => Buffer, idPrefix = ''): { from: Buffer; to: Buffer } {
  const from = keyOf(idPrefix)
  const to = Buffer.from(from)
  to[to.length - 1] = (to[to.length - 1] ?? 0) + 1
  return { from, to }
}

/** A scan of a store that finds all jobs of a filter, in the order of their ids. */
export interface Walk {
  /** The keys above the job's key; without a job id all keys. */
  rangeAfter(jobId: string | undefined): { from: Buffer; to: Buffer }
  idOf(key: Buffer): string
  /** Whether it reads few other jobs, because it uses an index. */
  isNarrow: boolean
  /** Whether the values of its keys are the definitions. */
  isOfDefinitions: boolean
}

export function walkOf(filter: JobFilter): Walk {
  const { idPrefix, status } = filter
  // An id prefix narrows more than any index, and the scan begins at it.
  const index = idPrefix === undefined ? indexFor(filter) : undefined
  if (index !== undefined) {
    const { kind, value } = index
    return {
      rangeAfter: (jobId) => indexRange(kind, value, jobId),
      idOf: (key) => jobIdOfIndexKey(key, value),
      ...{ isNarrow: true, isOfDefinitions: false },
    }
  }
  // A job that has not run yet has no state in the store, but it is not completed either.
  const keyOf = status === 'COMPLETED' ? stateKey : definitionKey
  const { from, to } = idRange(keyOf, idPrefix)
  const behind = (jobId: string): Buffer => (jobId < (idPrefix ?? '') ? from : keyAfter(keyOf(jobId)))
  return {
    rangeAfter: (jobId) => ({ from: jobId === undefined ? from : behind(jobId), to }),
    ...{ idOf: jobIdOfKey, isNarrow: false, isOfDefinitions: keyOf === definitionKey },
  }
}

/** The index that finds the fewest unwanted jobs. */
function indexFor({ dead, status, tag }: JobFilter): { kind: IndexKind; value: string } | undefined {
  if (dead === true) return { kind: indexKind.dead, value: '' }
  if (status !== undefined && isIndexedStatus(status)) return { kind: indexKind.status, value: status }
  return tag === undefined ? undefined : { kind: indexKind.tag, value: tag }
}
