/** What a commit cycle needs of its partition, and the local store of that partition while it is open. */

import type { Owner } from '../../../schemas/index.ts'
import type { Semaphore } from '../../ground/concurrency/index.ts'
import type { LogWriter, PartitionStore, StoreOp, TransactionalWriter } from '../../ground/ports/index.ts'
import type { Activity } from '../activity/index.ts'
import type { InputBuffer, LogPositions } from '../input/index.ts'
import type { AdmissionQueue } from '../limits/index.ts'
import type { Shared } from '../options/index.ts'
import { ActiveJobs, activeJobsMax, type Checkpoint, checkpointOp, HeavyJobs, TombstoneGuard } from '../state/index.ts'
import { TimeIndex, ZoneRulesState } from '../timers/index.ts'
import type { FailureIsolation } from './failure-isolation.ts'
import type { PartitionHook } from './hooks.ts'

export interface CommitContext {
  shared: Shared
  partition: number
  /** When the store had last read all of its logs, in epoch ms. */
  savedAtMs: number
  local: LocalStore
  activity: Activity
  input: {
    buffer: InputBuffer
    positions: LogPositions
    /** Up to which time applied reports are complete, and how many more timers may wait for reports. */
    reports: { readUntil: number; room: number }
  }
  admissionQueue: AdmissionQueue
  failureIsolation: FailureIsolation
  hooks: readonly PartitionHook[]
  /** Undefined until the partition is claimed: nothing may be logged before that. */
  writer: TransactionalWriter | undefined
  resources: {
    /** Writes records outside the transaction. */
    nonTransactionalWriter: LogWriter
    /** Slots for commits, shared by the partitions of a process. */
    commits: Semaphore
  }
}

/** What the store knew when it was opened. */
interface Found {
  /** Undefined in a new store. */
  local?: Checkpoint | undefined
  /** The last claim in it. */
  claim?: Owner | undefined
  /** Default: false. */
  isExact?: boolean
  /** Jobs with active runs that are kept in memory. Default: all that a process may keep. */
  activeJobs?: () => number
}

/**
 * The local store of a partition while it is open, with what memory holds of it: the time index, jobs with active runs, the heavy jobs, the time
 * zone rules behind its timers, and until when its deletions are known. It says in each write what it has read, and under which claim.
 */
export class LocalStore {
  readonly store: PartitionStore
  readonly index: TimeIndex
  readonly activeJobs: ActiveJobs
  readonly heavyJobs = new HeavyJobs()
  readonly zones: ZoneRulesState
  readonly tombstoneGuard: TombstoneGuard
  /** Offset of our claim. Before the claim: of the claim under which the store last applied records; -1 if there is none. */
  claimOffset: number
  /** Whether it has exactly the timers and index keys that follow from its jobs. Otherwise a restore writes all and removes none. */
  isExact: boolean
  readonly #system: Pick<Checkpoint, 'clusterId' | 'prefix'>

  constructor(
    partition: number,
    shared: Shared,
    store: PartitionStore,
    { local, claim, isExact = false, activeJobs = () => activeJobsMax }: Found = {},
  ) {
    this.store = store
    this.index = new TimeIndex(store)
    this.activeJobs = new ActiveJobs(activeJobs)
    this.zones = new ZoneRulesState(partition, shared)
    this.zones.opened(local, claim)
    this.tombstoneGuard = new TombstoneGuard(shared.clock, shared.tombstoneRetentionMs)
    this.tombstoneGuard.begin(local?.savedAtMs)
    this.claimOffset = local?.claimOffset ?? -1
    this.isExact = isExact
    this.#system = { clusterId: shared.clusterId, prefix: shared.prefix }
  }

  /** For the write after which it has all before these offsets. */
  checkpoint(
    { jobs, state }: { jobs: number; state: number },
    savedAtMs: number,
    changelog?: NonNullable<Checkpoint['changelog']>,
  ): StoreOp {
    const offsets = { jobsOffset: jobs, stateOffset: state, claimOffset: this.claimOffset }
    return checkpointOp({ ...this.#system, ...offsets, savedAtMs, zoneRules: this.zones.store, ...(changelog && { changelog }) })
  }
}
