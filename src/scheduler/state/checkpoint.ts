/**
 * Checkpoint of the store (key M·local): its position in the logs, written in the same batch as the data it describes. There is no other.
 * JSON, so that people can read it: {version, clusterId, jobsOffset, stateOffset, claimOffset, savedAtMs, zoneRules}. The first two
 * offsets are the next to read.
 */
import type { Owner, Position, StateEntry } from '../../../schemas/index.ts'
import { metaKey, ownerKey } from '../../../streams/state/index.ts'
import { type Clock, trustedMs } from '../../ground/clock/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import type { PartitionStore, StoreOp } from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'

/** The position that the changelog has: fields as in Position of schemas/job-state.avsc. `claimedAt` and `committedAt` are of this owner's claim. */
export type ChangelogState = Omit<Position, 'claimOffset' | 'zoneRules'>

export const emptyChangelogState = (): ChangelogState => ({
  ...{ jobsOffset: 0, commandsOffset: 0, eventsOffset: 0, aheadUntil: 0 },
  ...{ claimedAt: 0, committedAt: 0, commandsUntil: 0, commandsAnewTo: 0 },
})

export interface Checkpoint {
  clusterId: string
  /** Prefix of the topics. */
  prefix: string
  jobsOffset: number
  stateOffset: number
  /** Claim under which jobs was last applied; -1: never. */
  claimOffset: number
  /** When the store had last read all of its logs (TombstoneGuard). */
  savedAtMs: number
  /** Version of the time zone rules behind the timers of jobs without a state. Empty: unknown, or several. */
  zoneRules: string
  /** Set if job-state is not the log that the store was built from (partition/cut-changelog.ts). replaced: another owner has continued in it. */
  changelog?: 'cut' | 'replaced'
}

/** Version of the store's layout. A store of another version is rebuilt from the logs. */
const version = 1
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

/** Why the store does not follow from the logs of this system, or undefined. */
export function foreign(local: Checkpoint, log: { clusterId: string; prefix: string }): string | undefined {
  if (local.clusterId !== log.clusterId) return `it belongs to the cluster ${local.clusterId}, this one is ${log.clusterId}`
  // Another system on the same cluster: its decisions must never count here.
  if (local.prefix !== log.prefix) return `it belongs to the topics ${local.prefix}*, these are ${log.prefix}*`
  return local.changelog === 'replaced'
    ? 'job-state was truncated or recreated, and another owner has continued in it'
    : undefined
}

/**
 * Why a store of these logs cannot be used, or undefined. It may lack deletions: a tombstone may be gone for ever; then the deleted job would
 * live again here. `retentionMs` is delete.retention.ms of the compacted topics.
 */
export function unusable(
  { jobsOffset, savedAtMs }: Checkpoint,
  jobsEnd: number,
  nowMs: number,
  retentionMs: number,
): string | undefined {
  if (jobsOffset > jobsEnd) return `it has read jobs up to ${jobsOffset}, the log ends at ${jobsEnd}`
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

/** A bookkeeping entry of the changelog, read from the store. */
export async function readEntry(codecs: SchedulerCodecs, store: PartitionStore, key: Buffer): Promise<StateEntry | undefined> {
  const [value] = await store.get([key])
  return value ? codecs.state.decode(value) : undefined
}

/**
 * Tombstone guard: limits the age of a store that may be used. Compaction removes a tombstone some days after it was written. A store
 * that has not read it by then would keep the deleted job for ever. So each store records when it had last read all of its logs. A store
 * that is too old is rebuilt, when it is opened or when its process wakes up from such a long sleep with the store open.
 */

/** Share of the time that tombstones are kept. */
const keptShare = 0.8
/** How often an idle partition reads the clock and records in its store that it is up to date. */
export const idleCheckMs = 3_600_000

/** A store saved further in the future than this was saved by a clock that was ahead, so its age is unknown. */
const aheadMsMax = 60_000

export const isOfTheFuture = (savedAtMs: number, nowMs: number): boolean => savedAtMs - nowMs > aheadMsMax

export const mayLackTombstones = (savedAtMs: number, nowMs: number, retentionMs: number): boolean =>
  nowMs - savedAtMs > retentionMs * keptShare

export class TombstoneGuard {
  readonly #clock: Clock
  readonly #retentionMs: number
  /** When the store had last read all of its logs. */
  #savedAtMs: number
  #awakeAtMs: number
  /** When an idle store last recorded this, by the steady clock. */
  #recordedAtMs: number
  #hasSlept = false

  /** `retentionMs`: how long tombstones are kept at least, delete.retention.ms of the compacted topics. */
  constructor(clock: Clock, retentionMs: number) {
    this.#clock = clock
    this.#retentionMs = retentionMs
    this.#awakeAtMs = this.#savedAtMs = clock.nowMs()
    this.#recordedAtMs = clock.steadyMs()
  }

  /** A store was opened with its recorded time. A new store has none, because it reads every later tombstone. */
  begin(savedAtMs = this.#clock.nowMs()): void {
    this.#savedAtMs = savedAtMs
    this.#awakeAtMs = this.#clock.nowMs()
    this.#recordedAtMs = this.#clock.steadyMs()
    this.#hasSlept = false
  }

  /** The time that the store may record. `isCurrent`: it reads its logs up to their ends. */
  savedAtMs(isCurrent: boolean): number {
    this.#readClock()
    if (isCurrent && !this.#hasSlept) this.#savedAtMs = this.#awakeAtMs
    return this.#savedAtMs
  }

  /** Whether an idle store should record the time again. `savedAtMs` is read in each commit cycle, also if nothing is written. */
  get isDue(): boolean {
    return this.#clock.steadyMs() - this.#recordedAtMs >= idleCheckMs
  }

  /** The store has recorded the time. */
  recorded(): void {
    this.#recordedAtMs = this.#clock.steadyMs()
  }

  /** Throws `not-ready` after a sleep in which tombstones may have been written and removed. Must be called regularly. */
  check(): void {
    this.#readClock()
    if (this.#hasSlept)
      throw new DuelogError(
        'not-ready',
        'The process slept for longer than deletions are kept in the log; the store is checked again.',
      )
  }

  #readClock(): void {
    const now = trustedMs(this.#clock)
    if (now === undefined) return
    if (mayLackTombstones(this.#awakeAtMs, now, this.#retentionMs)) this.#hasSlept = true
    this.#awakeAtMs = now
  }
}
