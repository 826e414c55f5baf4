/** State of a partition's changelog beyond the job states in it. */
import type { Position } from '../../../schemas/index.ts'
import type { RecordIn } from '../../ports/index.ts'

/** Fields as in Position of schemas/job-state.avsc. `claimedAt` and `committedAt` are of this owner's claim. */
export type ChangelogState = Pick<
  Position,
  | 'jobsOffset'
  | 'commandsOffset'
  | 'eventsOffset'
  | 'aheadUntil'
  | 'claimedAt'
  | 'committedAt'
  | 'commandsUntil'
  | 'commandsAnewTo'
>

export const emptyChangelogState = (): ChangelogState => ({
  ...{
    jobsOffset: 0,
    commandsOffset: 0,
    eventsOffset: 0,
    aheadUntil: 0,
    claimedAt: 0,
    committedAt: 0,
    commandsUntil: 0,
    commandsAnewTo: 0,
  },
})

/** A claim of this partition, with the facts that a new owner needs. */
export interface Claimed {
  claimOffset: number
  claimedAt: number
  /** Value of the record. */
  value: Buffer
}

/** A changelog that is not the one that the store was built from (partition/replaced-changelog.ts). */
export interface ForeignChangelog {
  /** Takes records of the log in their order. Rejects if another owner has continued in it. */
  receive(records: readonly RecordIn[]): Promise<void>
  /** Logs the whole store again, once the log was read up to this owner's claim. */
  log(claim: Claimed): Promise<void>
}
