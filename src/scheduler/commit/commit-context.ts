/** What a turn is given of its partition. */
import type { Semaphore } from '../../concurrency/index.ts'
import type { LogWriter, PartitionStore, TransactionalWriter } from '../../ports/index.ts'
import type { ActiveRuns, Leases, WorkerWatch } from '../activity/index.ts'
import type { InputBuffer, Source } from '../input/index.ts'
import type { AdmissionQueue } from '../limits/index.ts'
import type { Shared } from '../options/index.ts'
import type { ChangelogState, HeavyJobs } from '../state/index.ts'
import type { TimeIndex, ZoneRulesState } from '../timers/index.ts'
import type { FailureIsolation } from './failure-isolation.ts'

export interface CommitContext {
  shared: Shared
  partition: number
  claimOffset: number
  /** When the store had last read all of its logs. */
  savedAtMs: number
  /** By which time zone rules next times stand. Default: by those in force. */
  zones?: ZoneRulesState
  /** Whether the store has just those timers and index keys that follow from its jobs; else a restore writes all and removes none. Default: no. */
  isExact?: boolean
  /** Whether the store is one of another log (partition/replaced-changelog.ts). Default: no. */
  isOfReplacedChangelog?: boolean
  store: PartitionStore
  index: TimeIndex
  inputBuffer: InputBuffer
  leases: Leases
  workers: WorkerWatch
  activeRuns: ActiveRuns
  admissionQueue: AdmissionQueue
  heavyJobs: HeavyJobs
  failureIsolation: FailureIsolation
  /** Absent while the partition is not claimed: then nothing may be logged. */
  writer: TransactionalWriter | undefined
  /** For records outside the transaction. */
  nonTransactionalWriter: LogWriter
  slots: Semaphore
  /** What the reports that are part of the store cover, and how many timers may wait for more. */
  reports: { readUntil: number; room: number }
  /** Next offsets that are part of the store. */
  applied: Record<Source | 'state', number>
  /** How far an input is done where what stands before `next` is. Default: so far. */
  doneTo?: (source: 'commands' | 'events', next: number) => number
  /** What the last position in the changelog says, whoever wrote it: what is decided already, and what the ahead lanes hold. */
  changelogState: ChangelogState
  /** Whether reports of runs were read since the claim. Default: none were. */
  hasReports?: () => boolean
}
