/**
 * The changelog of a partition as its readers receive it: one transaction after the other, each with the inputs that it decides.
 */
import type { FinishedRun, JobState, Position } from '../../../schemas/generated.ts'
import type { Entry, MemoryLog, Transaction } from '../../tools/memory-log.ts'
import { keyOf, placesOf, portionsOf, read, topics } from './reading.ts'

export interface Change {
  jobId: string
  /** Undefined: there never was one, or it is deleted. */
  before: JobState | undefined
  after: JobState | undefined
  /** Ended runs besides the last one. */
  ended: FinishedRun[]
}

export interface Decided {
  partition: number
  transaction: Transaction | undefined
  /** Order of the first and the last of its records among all appends. */
  from: number
  order: number
  /** True time of its first record. */
  at: number
  changes: Change[]
  /** Inputs that this transaction and all before it have decided, by its position; absent in a claim. */
  position: Position | undefined
  /** The position of the transaction before. */
  positionBefore: Position | undefined
  isClaim: boolean
}

export function transactionsOf(log: MemoryLog): Decided[] {
  return placesOf(log, topics.state).flatMap(({ partition, log: changelog }) => decidedIn(partition, changelog.archive))
}

function decidedIn(partition: number, archive: Entry[]): Decided[] {
  const states = new Map<string, JobState>()
  const found: Decided[] = []
  let positionBefore: Position | undefined
  for (const entries of portionsOf(archive)) {
    const [first, last] = [entries[0] as Entry, entries.at(-1) as Entry]
    const { transaction, order: from, at } = first
    const decided: Decided = {
      partition,
      transaction,
      from,
      order: last.order,
      at,
      changes: [],
      position: undefined,
      positionBefore,
      isClaim: false,
    }
    const rings = new Map<string, FinishedRun[]>()
    for (const { record } of entries) {
      if (!record?.key) continue
      const { kind, subject, name } = keyOf(record.key)
      const entry = record.value === null ? undefined : read.state(record.value)
      if (kind === 'R' && entry?.run) rings.set(subject, [...(rings.get(subject) ?? []), entry.run])
      else if (kind === 'S') {
        const after = entry?.state ?? undefined
        decided.changes.push({ jobId: name, before: states.get(name), after, ended: [] })
        if (after === undefined) states.delete(name)
        else states.set(name, after)
      } else if (kind === 'M' && name === 'owner') decided.isClaim = true
      else if (kind === 'M' && name === 'position') decided.position = entry?.position ?? undefined
    }
    for (const change of decided.changes) change.ended = rings.get(change.jobId) ?? []
    positionBefore = decided.position ?? positionBefore
    found.push(decided)
  }
  return found
}
