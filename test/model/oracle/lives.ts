/** What users have written of jobs: which definitions were in force one after the other, and what ended a life of a job. */
import type { JobDefinition } from '../../../schemas/generated.ts'
import type { Entry, MemoryLog } from '../../tools/memory-log.ts'
import { partitionOfJob } from './partitions.ts'
import { headerNames, isJobId, isShown, keyOf, placesOf, read, readable, topics } from './reading.ts'
import { isSound } from './soundness.ts'

export interface Definition {
  offset: number
  /** Broker time. */
  appendedAt: number
  /** Order among all appends. */
  order: number
  /** Absent when it cannot be used. */
  spec: JobDefinition | undefined
}

/** A job's definitions between two deletions. */
export interface Life {
  definitions: Definition[]
  /** Of the last one that was not taken. */
  droppedOffset: number
  /** Offset and order of the tombstone that ended it, and whether a user wrote that. */
  endedBy: { offset: number; order: number; byUser: boolean } | undefined
}

export type Lives = Map<string, Life[]>

export const hasLimit = ({ definitions }: Life): boolean =>
  definitions.some(({ spec }) => spec !== undefined && (spec.concurrencyKey !== null || spec.rateLimit !== null))

export const lifeNoOf = (lives: Life[] | undefined, specOffset: number): number =>
  (lives ?? []).findIndex(({ definitions }) => definitions.some(({ offset }) => offset === specOffset))

export const lifeName = (jobId: string, lifeNo: number): string => `${jobId}(life ${lifeNo})`
export const runName = (jobId: string, lifeNo: number, runNo: number): string => `${lifeName(jobId, lifeNo)}/${runNo}`

/** What says that a definition is the same schedule as the one before. */
export const timesOf = ({ spec }: Pick<Definition, 'spec'>): string =>
  spec === undefined ? '' : JSON.stringify([spec.schedule, spec.startAt, spec.endAt])

export function livesOf(log: MemoryLog): Lives {
  const lives: Lives = new Map()
  for (const { partition, log: jobs } of placesOf(log, topics.jobs)) {
    const deleted = deletionsOf(log.at(topics.state, partition).archive)
    for (const entry of jobs.archive.filter(isShown)) {
      const key = entry.record?.key
      if (!isJobId(key) || partitionOfJob(key.toString(), log.partitions) !== partition) continue
      take(lives, key.toString(), entry, deleted.get(key.toString()) ?? [])
    }
  }
  return lives
}

function take(lives: Lives, id: string, { record, order }: Entry, deletions: number[]): void {
  if (record === undefined) return
  const { offset, timestampMs: appendedAt, value, headers } = record
  const of = lives.get(id) ?? []
  const last = of.at(-1)
  const life = last?.endedBy === undefined ? last : undefined
  if (value === null) {
    if (life === undefined || headers[headerNames.moved] !== undefined) return
    const observed = headers[headerNames.observedOffset]
    // Duelog's own counts only for what it has seen, and where the job has not been revived since: then the job goes at once.
    const counts = observed === undefined || Number(observed.toString()) >= Math.max(inForceOffset(life), life.droppedOffset)
    const gone = observed === undefined || deletions.some((specOffset) => specOffset === inForceOffset(life))
    if (counts && gone) life.endedBy = { offset, order, byUser: observed === undefined }
    return
  }
  const next: Definition = { offset, appendedAt, order, spec: soundSpec(value) }
  lives.set(id, of)
  if (life === undefined) of.push({ definitions: [next], droppedOffset: -1, endedBy: undefined })
  else if (isDropped(life.definitions.at(-1), next)) life.droppedOffset = offset
  else life.definitions.push(next)
}

const inForceOffset = ({ definitions }: Life): number => definitions.at(-1)?.offset ?? -1

function soundSpec(value: Buffer): JobDefinition | undefined {
  const spec = readable(read.definition, value)
  return spec !== undefined && isSound(spec) ? spec : undefined
}

/** Whether the definition is not taken because of its version, or as a duplicate of the one in force. */
function isDropped(inForce: Definition | undefined, next: Definition): boolean {
  const [old, spec] = [inForce?.spec, next.spec]
  if (inForce === undefined || old === undefined || spec === undefined) return false
  if (old.version !== null && spec.version !== null && spec.version < old.version) return true
  return spec.dedupKey !== null && spec.dedupKey === old.dedupKey && next.appendedAt <= inForce.appendedAt + spec.dedupWindowMs
}

/** For each job the definitions with which it was forgotten in the changelog. */
function deletionsOf(archive: Entry[]): Map<string, number[]> {
  const known = new Map<string, { specOffset: number; runNo: number }>()
  const deletions = new Map<string, number[]>()
  for (const { record } of archive.filter(isShown)) {
    if (!record?.key || keyOf(record.key).kind !== 'S') continue
    const id = keyOf(record.key).subject
    const state = readable(read.state, record.value)?.state ?? undefined
    const before = known.get(id)
    // A state that begins anew in the same transaction hides the end of the one before: its runs are numbered from 1 again.
    const anew = before !== undefined && before.specOffset !== state?.specOffset && (state?.runNo ?? 0) <= before.runNo
    if (before !== undefined && (state === undefined || anew))
      deletions.set(id, [...(deletions.get(id) ?? []), before.specOffset])
    if (state !== undefined) known.set(id, state)
  }
  return deletions
}
