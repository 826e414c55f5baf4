/**
 * The records that users have written about jobs: which definitions were in force one after the other, and what ended a life of a
 * job.
 */
import type { JobDefinition } from '../../../schemas/generated.ts'
import type { Entry, MemoryLog } from '../../tools/memory-log.ts'
import { partitionOfJob } from './partitions.ts'
import { headerNames, isJobId, isShown, keyOf, placesOf, read, readable, type Shown, shownIn, topics } from './reading.ts'
import { isSound } from './soundness.ts'

export interface Definition {
  offset: number
  /** Broker time. */
  appendedAt: number
  /** Order among all appends. */
  order: number
  /** Absent if it cannot be used. */
  spec: JobDefinition | undefined
}

type Headers = Record<string, Buffer | undefined>

/** The definitions of a job between two deletions. */
export interface Life {
  definitions: Definition[]
  /** The offset of the last definition that was not taken. */
  droppedOffset: number
  /** Offset and order of the tombstone that ended it, and whether a user wrote it. */
  endedBy: { offset: number; order: number; byUser: boolean } | undefined
}

export type Lives = Map<string, Life[]>

export const hasLimit = ({ definitions }: Life): boolean =>
  definitions.some(({ spec }) => spec !== undefined && (spec.concurrencyKey !== null || spec.rateLimit !== null))

export const lifeNoOf = (lives: readonly Life[] | undefined, specOffset: number): number =>
  (lives ?? []).findIndex(({ definitions }) => definitions.some(({ offset }) => offset === specOffset))

export const lifeName = (jobId: string, lifeNo: number): string => `${jobId}(life ${lifeNo})`
export const runName = (jobId: string, lifeNo: number, runNo: number): string => `${lifeName(jobId, lifeNo)}/${runNo}`

/** Text that is equal for two definitions with the same schedule. */
export const timesOf = ({ spec }: Pick<Definition, 'spec'>): string =>
  spec === undefined ? '' : JSON.stringify([spec.schedule, spec.startAt, spec.endAt])

export function livesOf(log: MemoryLog): Lives {
  const lives: Lives = new Map()
  for (const { partition, log: jobs } of placesOf(log, topics.jobs)) {
    const deleted = deletionsOf(log.at(topics.state, partition).archive)
    for (const entry of shownIn(jobs.archive)) {
      const key = entry.record?.key
      if (!isJobId(key) || partitionOfJob(key.toString(), log.partitions) !== partition) continue
      take(lives, key.toString(), entry, deleted.get(key.toString()) ?? [])
    }
  }
  return lives
}

function take(lives: Lives, id: string, { record, visibleOrder: order }: Shown, deletions: Deletion[]): void {
  if (record === undefined) return
  const { offset, timestampMs, value, headers } = record
  // A record that was moved here counts from when it came to the wrong partition.
  const appendedAt = Number(headers[headerNames.appendedAt] ?? timestampMs)
  const of = lives.get(id) ?? []
  const last = of.at(-1)
  const life = last?.endedBy === undefined ? last : undefined
  if (value === null) {
    if (life === undefined || headers[headerNames.moved] !== undefined || !isMet(headers, life)) return
    const observed = headers[headerNames.observedOffset]
    const until = headers[headerNames.observedDeleteAt]
    const isDue = (deleteAt: number | null): boolean => until === undefined || Number(until.toString()) === deleteAt
    // Duelog's own tombstone counts only for what it has seen, and only if the job was not defined again since. Then the job is
    // deleted at once.
    const counts = observed === undefined || Number(observed.toString()) >= Math.max(inForceOffset(life), life.droppedOffset)
    const gone =
      observed === undefined ||
      deletions.some(
        ({ specOffset, deleteAt, from, to }) =>
          specOffset === inForceOffset(life) && isDue(deleteAt) && offset >= from && offset < to,
      )
    if (counts && gone) life.endedBy = { offset, order, byUser: observed === undefined }
    return
  }
  const next: Definition = { offset, appendedAt, order, spec: soundSpec(value) }
  const met = isMet(headers, life)
  // Nothing is left of a refused definition of a job that does not exist.
  if (life === undefined && !met) return
  lives.set(id, of)
  if (life === undefined) of.push({ definitions: [next], droppedOffset: -1, endedBy: undefined })
  else if (!met || isDropped(life.definitions.at(-1), next)) life.droppedOffset = offset
  else life.definitions.push(next)
}

/** Whether the condition of a record holds: it names the definition that must be in force, or `*` for any, or says that there must be none. */
function isMet({ [headerNames.onlyNew]: isNew, [headerNames.onlyOver]: over }: Headers, life: Life | undefined): boolean {
  if (isNew !== undefined) return life === undefined
  if (over === undefined) return true
  return life !== undefined && (over.toString() === '*' || over.toString() === String(inForceOffset(life)))
}

const inForceOffset = ({ definitions }: Life): number => definitions.at(-1)?.offset ?? -1

function soundSpec(value: Buffer): JobDefinition | undefined {
  const spec = readable(read.definition, value)
  return spec !== undefined && isSound(spec) ? spec : undefined
}

/** Whether the definition is refused because of its version, or as a duplicate of the one in force. */
function isDropped(inForce: Definition | undefined, next: Definition): boolean {
  const [old, spec] = [inForce?.spec, next.spec]
  if (inForce === undefined || old === undefined || spec === undefined) return false
  if (old.version !== null && spec.version !== null && spec.version < old.version) return true
  return spec.dedupKey !== null && spec.dedupKey === old.dedupKey && next.appendedAt <= inForce.appendedAt + spec.dedupWindowMs
}

/** A transaction that has taken these records of `jobs` deleted the job in the changelog. */
interface Deletion {
  specOffset: number
  /** When it was to be deleted, by its last state. */
  deleteAt: number | null
  from: number
  to: number
}

function deletionsOf(archive: Entry[]): Map<string, Deletion[]> {
  const known = new Map<string, { specOffset: number; life: string; deleteAt: number | null }>()
  const deletions = new Map<string, Deletion[]>()
  let begun: Deletion[] = []
  let jobsOffset = 0
  for (const { record } of archive.filter(isShown)) {
    if (!record?.key) continue
    const { kind, subject: id } = keyOf(record.key)
    const entry = readable(read.state, record.value)
    // The position is the last record of each transaction.
    for (const deletion of begun) deletion.to = entry?.position?.jobsOffset ?? deletion.to
    if (entry?.position) [begun, jobsOffset] = [[], entry.position.jobsOffset]
    if (kind !== 'S') continue
    const state = entry?.state ?? undefined
    const before = known.get(id)
    // A state that begins again in the same transaction hides the end of the one before; it names another life.
    if (before !== undefined && state?.life !== before.life) {
      const deletion = { specOffset: before.specOffset, deleteAt: before.deleteAt, from: jobsOffset, to: jobsOffset }
      deletions.set(id, [...(deletions.get(id) ?? []), deletion])
      begun.push(deletion)
    }
    if (state !== undefined) known.set(id, state)
    else known.delete(id)
  }
  return deletions
}
