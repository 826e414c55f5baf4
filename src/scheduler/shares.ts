/** What the partitions of one scheduler share besides its options. */
import type { LogWriter } from '../ports.ts'
import type { Slots } from './slots.ts'

export interface PartitionShares {
  commits: Slots
  restores: Slots
  standbyRestores: Slots
  asides: LogWriter
  /** Told whenever a partition enters another phase. */
  phaseChanged: () => void
}
