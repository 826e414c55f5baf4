/** What the partitions of one scheduler share in addition to its options. */
import type { Semaphore } from '../../concurrency/index.ts'
import type { LogWriter } from '../../ports/index.ts'
import type { EndOffsetQueries, Source } from '../input/index.ts'
import type { HeavyTimerSlots } from '../timers/index.ts'
import type { OpenTransactions } from './open-transactions.ts'

export interface SchedulerResources {
  commits: Semaphore
  heavy: HeavyTimerSlots
  /** Bytes at which reading pauses for one partition. */
  inputBufferBytesMax: () => number
  restores: Semaphore
  standbyRestores: Semaphore
  nonTransactionalWriter: LogWriter
  /** The ends of the inputs. */
  ends: Readonly<Record<Source, EndOffsetQueries>>
  /** Open transactions that block a topic of a partition. */
  openTransactions: Pick<OpenTransactions, 'of'>
  /** Called whenever a partition enters another phase. */
  phaseChanged: () => void
}
