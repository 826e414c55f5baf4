/**
 * Index keys of a job: keys of the store that find it by something else than its id. They follow from the job, as its timers do.
 *
 *   I·kind u8·value·00·jobId    empty value
 *
 * Live updates write the difference between before and after. A restore writes all keys and removes none, so a key may exist without its
 * job; a reader checks the job itself. The most common statuses, ACTIVE and COMPLETED, have no keys: each run of a one-shot job would
 * write them, and a list of them is a list of nearly all jobs. Handlers have no keys either: one more key for every job made the restore
 * of 1,000,000 jobs take 28.7 s instead of 19.7 s. A search by handler uses the search index (ADR 0031).
 */
import type { JobDefinition, JobState } from '../../schemas/index.ts'
import type { Job } from './job.ts'
import { keyAfter, prefix } from './keys.ts'

/** Numbers are part of the key and are never reused. */
export const indexKind = { tag: 1, status: 3, dead: 4 } as const
export type IndexKind = (typeof indexKind)[keyof typeof indexKind]

const indexedStatuses: ReadonlySet<JobState['status']> = new Set(['PAUSED', 'INVALID'])

/** Whether every job of this status has its key. */
export const isIndexedStatus = (status: JobState['status']): boolean => indexedStatuses.has(status)

export function indexKeysOf({ id, definition, state }: Job): Buffer[] {
  const spec = definition?.spec
  const keys = spec === undefined ? [] : definitionIndexKeys(id, spec)
  if (state !== undefined) keys.push(...stateIndexKeys(id, state))
  else if (definition !== undefined && spec === undefined) keys.push(indexKey(indexKind.status, 'INVALID', id))
  else if (spec?.paused) keys.push(indexKey(indexKind.status, 'PAUSED', id))
  return keys
}

/** Keys that follow from a definition alone. */
export function definitionIndexKeys(jobId: string, { tags }: JobDefinition): Buffer[] {
  return tags.map((tag) => indexKey(indexKind.tag, tag, jobId))
}

/** Keys that follow from a logged state alone, without its definition; a restore needs them. */
export function stateIndexKeys(jobId: string, { status, deadRuns }: JobState): Buffer[] {
  const keys = indexedStatuses.has(status) ? [indexKey(indexKind.status, status, jobId)] : []
  if (deadRuns.length > 0) keys.push(indexKey(indexKind.dead, '', jobId))
  return keys
}

/** Whether the keys of a job may have changed. If not, they need not be built. */
export const mayChangeIndex = (before: Job, after: Job): boolean =>
  before.definition !== after.definition ||
  before.state?.status !== after.state?.status ||
  before.state?.deadRuns.length !== after.state?.deadRuns.length

/** Key range of the jobs with a value; with `after`, of the jobs after that one. */
export function indexRange(kind: IndexKind, value: string, after?: string): { from: Buffer; to: Buffer } {
  const [start, to] = [indexKey(kind, value, ''), indexKey(kind, value, '')]
  to[to.length - 1] = 1
  return { from: after === undefined ? start : keyAfter(indexKey(kind, value, after)), to }
}

/** The job id in a key of this value. */
export const jobIdOfIndexKey = (key: Buffer, value: string): string => key.toString('utf8', 3 + Buffer.byteLength(value))

function indexKey(kind: IndexKind, value: string, jobId: string): Buffer {
  const valueBytes = Buffer.byteLength(value)
  const key = Buffer.allocUnsafe(3 + valueBytes + Buffer.byteLength(jobId))
  key[0] = prefix.index
  key[1] = kind
  key.write(value, 2, 'utf8')
  key[2 + valueBytes] = 0
  key.write(jobId, 3 + valueBytes, 'utf8')
  return key
}

/** Keys of the limits that a job shares with others: those of its definition in force, and those that its active runs were made with. */
export interface LimitKeys {
  /** Each a concurrencyKey. */
  slots: Set<string>
  /** Each the key of a rateLimit. */
  starts: Set<string>
}

/** Adds the keys that decisions about a job may touch. */
export function addLimitKeys(keys: LimitKeys, { definition, state }: Pick<Job, 'definition' | 'state'>): void {
  const spec = definition?.spec
  if (spec !== undefined && spec.concurrencyKey !== null) keys.slots.add(spec.concurrencyKey)
  if (spec !== undefined && spec.rateLimit !== null) keys.starts.add(spec.rateLimit.key)
  for (const { limits } of state?.active ?? []) {
    if (limits === null) continue
    if (limits.concurrencyKey !== null) keys.slots.add(limits.concurrencyKey)
    if (limits.rateKey !== null) keys.starts.add(limits.rateKey)
  }
}
