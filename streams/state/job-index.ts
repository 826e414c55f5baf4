/**
 * By what a job can be found besides its id: keys of the store that follow from what is known of the job, as its timers do.
 *
 *   I·kind u8·value·00·jobId    empty value
 *
 * Live updates write the difference between before and after. A restore writes them all and removes none, so a key may stand there
 * without its job; whoever finds one looks at the job. The commonest statuses, ACTIVE and COMPLETED, have none: each run of a one-shot
 * would write for them, and a list of them is a list of nearly all jobs. Nor have handlers: a key more for every job made the restore of
 * 1,000,000 jobs take 28.7 s in place of 19.7 s. Whoever searches by handler has a catalogue made (ADR 0031).
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

/** What follows from a definition alone. */
export function definitionIndexKeys(jobId: string, { tags }: JobDefinition): Buffer[] {
  return tags.map((tag) => indexKey(indexKind.tag, tag, jobId))
}

/** What follows from a logged state alone, without its definition: what a restore needs. */
export function stateIndexKeys(jobId: string, { status, deadRuns }: JobState): Buffer[] {
  const keys = indexedStatuses.has(status) ? [indexKey(indexKind.status, status, jobId)] : []
  if (deadRuns.length > 0) keys.push(indexKey(indexKind.dead, '', jobId))
  return keys
}

/** Whether a job's keys may differ between two looks at it; no need to build them when nothing that they follow from has changed. */
export const mayChangeIndex = (before: Job, after: Job): boolean =>
  before.definition !== after.definition ||
  before.state?.status !== after.state?.status ||
  before.state?.deadRuns.length !== after.state?.deadRuns.length

/** Where the jobs of a value begin: with `after`, behind this job's place. */
export function indexRange(kind: IndexKind, value: string, after?: string): { from: Buffer; to: Buffer } {
  const [start, to] = [indexKey(kind, value, ''), indexKey(kind, value, '')]
  to[to.length - 1] = 1
  return { from: after === undefined ? start : keyAfter(indexKey(kind, value, after)), to }
}

/** The job that a key of this value stands for. */
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
