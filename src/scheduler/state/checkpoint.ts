/**
 * M·local: where this store stands in the logs, in the same write batch as the data it describes. It is the only checkpoint.
 * JSON, for eyes: {version, clusterId, jobsOffset, stateOffset, claimOffset, savedAtMs, zoneRules}; the first two offsets are the next to read.
 */
import type { Owner, Position, StateEntry } from '../../../schemas/index.ts'
import { metaKey } from '../../../streams/state/index.ts'
import type { PartitionStore, StoreOp } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { isOfTheFuture, mayLackTombstones } from './tombstone-guard.ts'

export interface Checkpoint {
  clusterId: string
  jobsOffset: number
  stateOffset: number
  /** Claim under which jobs was folded last; -1 when that was never. */
  claimOffset: number
  /** When it had last read all of its logs (tombstone-guard.ts). */
  savedAtMs: number
  /** Version of the time zone rules that the timers of jobs without a state stand by. Empty, absent: nobody knows. */
  zoneRules?: string
  /** The job-state that is there is not the one that the store was made from (partition/replaced-changelog.ts). theirs: another owner has gone on in it. */
  otherLog?: 'ours' | 'theirs'
}

/** Of the store's layout: 2 has the keys of streams/state/job-index.ts. A store of another version is built anew from the logs. */
const version = 2
export const checkpointKey = metaKey('local')
export const positionKey = metaKey('position')
export const ownerKey = metaKey('owner')

export function checkpointOp(local: Checkpoint): StoreOp {
  return { key: checkpointKey, value: Buffer.from(JSON.stringify({ version, ...local })) }
}

/** Undefined for an empty store, and for one of another version, whose offsets say nothing about what this one needs. */
export async function readCheckpoint(store: PartitionStore): Promise<Checkpoint | undefined> {
  const [value] = await store.get([checkpointKey])
  return checkpointOf(value)
}

/** With the last claim that the store has. */
export async function readCheckpointAndClaim(
  codecs: SchedulerCodecs,
  store: PartitionStore,
): Promise<{ local: Checkpoint | undefined; claim: Owner | undefined }> {
  const [local, claim] = await store.get([checkpointKey, ownerKey])
  return { local: checkpointOf(local), claim: claim ? ((await codecs.state.decode(claim)).owner ?? undefined) : undefined }
}

function checkpointOf(value: Buffer | null | undefined): Checkpoint | undefined {
  if (!value) return undefined
  const parsed = JSON.parse(value.toString()) as Checkpoint & { version: number }
  return parsed.version === version ? parsed : undefined
}

/** Whether another version of this program has written the store. */
export async function isOfOtherVersion(store: PartitionStore): Promise<boolean> {
  const [value] = await store.get([checkpointKey])
  return value ? (JSON.parse(value.toString()) as { version: number }).version !== version : false
}

/** Why a local store cannot be continued, or undefined. With `otherLog: ours` it may hold what no log has. `retentionMs` is delete.retention.ms of the compacted topics. */
export function unusable(
  local: Checkpoint,
  log: { clusterId: string; jobs: Range },
  nowMs: number,
  retentionMs: number,
): string | undefined {
  if (local.clusterId !== log.clusterId) return `it belongs to the cluster ${local.clusterId}, this one is ${log.clusterId}`
  if (local.otherLog === 'theirs') return 'job-state was truncated or made anew, and another owner has gone on in it'
  // What was decided is nowhere else then: the claim sees to definitions.
  if (local.otherLog === undefined && local.jobsOffset > log.jobs.next)
    return `it has read jobs up to ${local.jobsOffset}, the log ends at ${log.jobs.next}`
  return local.otherLog === undefined ? outdated(local, nowMs, retentionMs) : undefined
}

/** Why the store may lack what was deleted, or undefined: a tombstone may be gone for ever, and what it deleted would live again here. */
export function outdated({ savedAtMs }: Checkpoint, nowMs: number, retentionMs: number): string | undefined {
  if (mayLackTombstones(savedAtMs, nowMs, retentionMs)) return 'it is older than tombstones are kept'
  if (isOfTheFuture(savedAtMs, nowMs)) return 'it was saved by a clock that was ahead, so its age is not known'
  return undefined
}

/**
 * Whether the store has folded definitions as an owner that was one no more, and so without the states of its successor. An owner
 * logs how far it has folded jobs, though not each time: a store that is further than the log says is sound as long as nobody else
 * has logged anything since.
 */
export const isBesideTheLog = (local: Pick<Checkpoint, 'jobsOffset' | 'claimOffset'>, changelogState: Position | null): boolean =>
  changelogState !== null && local.jobsOffset > changelogState.jobsOffset && local.claimOffset !== changelogState.claimOffset

interface Range {
  earliest: number
  next: number
}

/** An entry of the changelog's bookkeeping as the store has it. */
export async function readEntry(codecs: SchedulerCodecs, store: PartitionStore, key: Buffer): Promise<StateEntry | undefined> {
  const [value] = await store.get([key])
  return value ? codecs.state.decode(value) : undefined
}
