/** What the partitions of one scheduler share besides its options. */
import type { Semaphore } from '../../concurrency/index.ts'
import type { LogWriter } from '../../ports/index.ts'
import type { EndOffsetQueries, Source } from '../input/index.ts'
import type { HeavyTimerSlots } from '../timers/index.ts'
import type { OpenTransactions } from './open-transactions.ts'

export interface SchedulerResources {
  commits: Semaphore
  heavy: HeavyTimerSlots
  /** Bytes at which reading for one partition pauses. */
  inputBufferBytesMax: () => number
  restores: Semaphore
  standbyRestores: Semaphore
  nonTransactionalWriter: LogWriter
  /** Where the inputs end. */
  ends: Readonly<Record<Source, EndOffsetQueries>>
  /** Those that hold up a topic of a partition. */
  openTransactions: Pick<OpenTransactions, 'of'>
  /** Told whenever a partition enters another phase. */
  phaseChanged: () => void
}
