/** What the partitions of one scheduler share besides its options. */
import type { LogWriter } from '../ports.ts'
import type { EndsQuestion } from './ends-question.ts'
import type { HeavyTurns } from './heavy-turns.ts'
import type { Source } from './mailbox.ts'
import type { OpenTransactions } from './open-transactions.ts'
import type { Slots } from './slots.ts'

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
