/** What a commit cycle needs of its partition. */
import type { Semaphore } from '../../concurrency/index.ts'
import type { LogWriter, PartitionStore, TransactionalWriter } from '../../ports/index.ts'
import type { ActiveRuns, JobWaits, Leases, StandingJobs, WorkerWatch } from '../activity/index.ts'
import type { InputBuffer, LogPositions } from '../input/index.ts'
import type { AdmissionQueue } from '../limits/index.ts'
import type { Shared } from '../options/index.ts'
import type { HeavyJobs } from '../state/index.ts'
import type { TimeIndex, ZoneRulesState } from '../timers/index.ts'
import type { BulkChanges } from './bulk-changes.ts'
import type { FailureIsolation } from './failure-isolation.ts'

export interface CommitContext {
  shared: Shared
  partition: number
  claimOffset: number
  /** When the store had last read all of its logs, in epoch ms. */
  savedAtMs: number
  /** The time zone rules that next times were computed by. Default: those in force. */
  zones?: ZoneRulesState
  /**
   * Whether the store has exactly the timers and index keys that follow from its jobs. Otherwise a restore writes all and
   * removes none. Default: false.
   */
  isExact?: boolean
  /** Whether the store is from another log (partition/replaced-changelog.ts). Default: false. */
  isOfReplacedChangelog?: boolean
  store: PartitionStore
  index: TimeIndex
  inputBuffer: InputBuffer
  leases: Leases
  workers: WorkerWatch
  activeRuns: ActiveRuns
  standing: StandingJobs
  jobWaits: JobWaits
  admissionQueue: AdmissionQueue
  heavyJobs: HeavyJobs
  failureIsolation: FailureIsolation
  bulk: BulkChanges
  /** Undefined until the partition is claimed: nothing may be logged before that. */
  writer: TransactionalWriter | undefined
  resources: {
    /** Writes records outside the transaction. */
    nonTransactionalWriter: LogWriter
    /** Slots for commits, shared by the partitions of a process. */
    commits: Semaphore
  }
  /** Up to which time applied reports are complete, and how many more timers may wait for reports. */
  reports: { readUntil: number; room: number }
  positions: LogPositions
}
