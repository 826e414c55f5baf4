/** What a partition knows of its changelog beyond the states in it. */
import type { Position } from '../../../schemas/index.ts'
import type { RecordIn } from '../../ports/index.ts'

/** As Position in schemas/job-state.avsc; `claimedAt` and `committedAt` of our own claim. */
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

/** A claim of this partition, as a new owner has to know it. */
export interface Claimed {
  claimOffset: number
  claimedAt: number
  /** The record. */
  value: Buffer
}

/** A changelog that is not the one that the store was made from (partition/replaced-changelog.ts). */
export interface ForeignChangelog {
  /** Takes records of the log in their order. Rejects when somebody else has gone on in it. */
  receive(records: readonly RecordIn[]): Promise<void>
  /** Logs all of the store again, once the log was read up to our claim. */
  log(claim: Claimed): Promise<void>
}
