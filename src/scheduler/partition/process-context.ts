/** What the partitions of one scheduler share besides its options. */
import type { Slots } from '../../concurrency/index.ts'
import type { LogWriter } from '../../ports/index.ts'
import type { EndsQuestion, Source } from '../input/index.ts'
import type { HeavyTurns } from '../timers/index.ts'
import type { OpenTransactions } from './open-transactions.ts'

export interface PartitionShares {
  commits: Slots
  heavy: HeavyTurns
  /** Bytes at which reading for one partition pauses. */
  mailboxBytesMax: () => number
  restores: Slots
  standbyRestores: Slots
  asides: LogWriter
  /** Where the inputs end. */
  ends: Readonly<Record<Source, EndsQuestion>>
  /** Those that hold up a topic of a partition. */
  openTransactions: Pick<OpenTransactions, 'of'>
  /** Told whenever a partition enters another phase. */
  phaseChanged: () => void
}
