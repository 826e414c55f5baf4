/** What a turn is given of its partition. */
import type { LogWriter, TransactionalWriter } from '../ports.ts'
import type { Admissions } from './admissions.ts'
import type { Leases } from './leases.ts'
import type { Logged } from './logged.ts'
import type { Mailbox, Source } from './mailbox.ts'
import type { Narrowing } from './narrowing.ts'
import type { Shared } from './options.ts'
import type { PartitionStore } from './ports.ts'
import type { Slots } from './slots.ts'
import type { TimeIndex } from './time-index.ts'
import type { UnderWay } from './under-way.ts'
import type { Weights } from './weights.ts'
import type { WorkerWatch } from './worker-watch.ts'
import type { ZoneStanding } from './zone-standing.ts'

export interface TurnContext {
  shared: Shared
  partition: number
  claimOffset: number
  /** When the store had last read all of its logs. */
  savedAtMs: number
  /** By which time zone rules next times stand. Default: by those in force. */
  zones?: ZoneStanding
  /** Whether the store has just those timers and index keys that follow from its jobs; else a restore writes all and removes none. Default: no. */
  isExact?: boolean
  /** Whether the store is one of another log (other-log.ts). Default: no. */
  isOfOtherLog?: boolean
  store: PartitionStore
  index: TimeIndex
  mailbox: Mailbox
  leases: Leases
  workers: WorkerWatch
  underWay: UnderWay
  admissions: Admissions
  weights: Weights
  narrowing: Narrowing
  /** Absent while the partition is not claimed: then nothing may be logged. */
  writer: TransactionalWriter | undefined
  /** For records outside the transaction. */
  asides: LogWriter
  slots: Slots
  /** What the reports that are part of the store cover, and how many timers may wait for more. */
  reports: { readUntil: number; room: number }
  /** Next offsets that are part of the store. */
  applied: Record<Source | 'state', number>
  /** How far an input is done where what stands before `next` is. Default: so far. */
  doneTo?: (source: 'commands' | 'events', next: number) => number
  /** What the last position in the changelog says, whoever wrote it: what is decided already, and what the ahead lanes hold. */
  logged: Logged
  /** Whether reports of runs were read since the claim. Default: none were. */
  hasReports?: () => boolean
}
