/**
 * Checkpoint of the store (key M·local): its position in the logs, written in the same batch as the data it describes. There is no other.
 * JSON, so that people can read it: {version, clusterId, jobsOffset, stateOffset, claimOffset, savedAtMs, zoneRules}. The first two
 * offsets are the next to read.
 */
import type { Owner, Position, StateEntry } from '../../../schemas/index.ts'
import { metaKey, ownerKey } from '../../../streams/state/index.ts'
import type { PartitionStore, StoreOp } from '../../ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { isOfTheFuture, mayLackTombstones } from './tombstone-guard.ts'

export interface Checkpoint {
  clusterId: string
  /** Prefix of the topics. Absent: an earlier version wrote it. */
  prefix?: string
  jobsOffset: number
  stateOffset: number
  /** Claim under which jobs was last applied; -1: never. */
  claimOffset: number
  /** When the store had last read all of its logs (tombstone-guard.ts). */
  savedAtMs: number
  /** Version of the time zone rules behind the timers of jobs without a state. Empty or absent: unknown. */
  zoneRules?: string
  /** Set if job-state is not the log that the store was built from (partition/replaced-changelog.ts). theirs: another owner has continued in it. */
  otherLog?: 'ours' | 'theirs'
}

/** Version of the store's layout; 2 has the keys of streams/state/job-index.ts. A store of another version is rebuilt from the logs. */
const version = 2
export const checkpointKey = metaKey('local')
export { ownerKey, positionKey } from '../../../streams/state/index.ts'

export function checkpointOp(local: Checkpoint): StoreOp {
  return { key: checkpointKey, value: Buffer.from(JSON.stringify({ version, ...local })) }
}

/** Undefined for an empty store and for a store of another version, because its offsets are useless here. */
export async function readCheckpoint(store: PartitionStore): Promise<Checkpoint | undefined> {
  const [value] = await store.get([checkpointKey])
  return checkpointOf(value)
}

/** The checkpoint and the last claim in the store. */
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

/** Whether the store has the layout of another version. */
export async function isOfOtherVersion(store: PartitionStore): Promise<boolean> {
  const [value] = await store.get([checkpointKey])
  return value ? (JSON.parse(value.toString()) as { version: number }).version !== version : false
}

/** Why a local store cannot be used, or undefined. With `otherLog: ours` it may hold data that no log has. `retentionMs` is delete.retention.ms of the compacted topics. */
export function unusable(
  local: Checkpoint,
  log: { clusterId: string; prefix: string; jobs: Range },
  nowMs: number,
  retentionMs: number,
): string | undefined {
  if (local.clusterId !== log.clusterId) return `it belongs to the cluster ${local.clusterId}, this one is ${log.clusterId}`
  // Another system on the same cluster: its decisions must never count here.
  if (local.prefix !== undefined && local.prefix !== log.prefix)
    return `it belongs to the topics ${local.prefix}*, these are ${log.prefix}*`
  if (local.otherLog === 'theirs') return 'job-state was truncated or recreated, and another owner has continued in it'
  // With `otherLog` the decisions are only in this store, so it is kept; the claim corrects the definitions.
  if (local.otherLog === undefined && local.jobsOffset > log.jobs.next)
    return `it has read jobs up to ${local.jobsOffset}, the log ends at ${log.jobs.next}`
  return local.otherLog === undefined ? outdated(local, nowMs, retentionMs) : undefined
}

/** Why the store may lack deletions, or undefined. A tombstone may be gone for ever; then the deleted job would live again here. */
export function outdated({ savedAtMs }: Checkpoint, nowMs: number, retentionMs: number): string | undefined {
  if (mayLackTombstones(savedAtMs, nowMs, retentionMs)) return 'it is older than tombstones are kept'
  if (isOfTheFuture(savedAtMs, nowMs)) return 'it was saved by a clock that was ahead, so its age is not known'
  return undefined
}

/**
 * Whether the store has applied definitions after its owner was replaced, and so without the states of the next owner. An owner logs how
 * far it has applied jobs, but not each time. So a store that is further than the log says is valid as long as no other owner has
 * logged anything since.
 */
export const isBesideTheLog = (local: Pick<Checkpoint, 'jobsOffset' | 'claimOffset'>, changelogState: Position | null): boolean =>
  changelogState !== null && local.jobsOffset > changelogState.jobsOffset && local.claimOffset !== changelogState.claimOffset

interface Range {
  earliest: number
  next: number
}

/** A bookkeeping entry of the changelog, read from the store. */
export async function readEntry(codecs: SchedulerCodecs, store: PartitionStore, key: Buffer): Promise<StateEntry | undefined> {
  const [value] = await store.get([key])
  return value ? codecs.state.decode(value) : undefined
}
