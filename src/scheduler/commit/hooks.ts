/**
 * Hooks: what works on a partition beside the core, such as operations on many jobs. The core has a table of them (SchedulerResources), calls
 * them in its order, and knows none by name. A hook decides nothing itself: the rules decide about its commands, and what they decide is
 * committed with all else of the cycle (ADR 0126).
 *
 *   begin ──► before each input: before ──► after all input records, for each of its own jobs: decide ──► committed
 *     └── if the cycle fails, nothing more is called, and the next one begins anew
 */
import type { JobCommand } from '../../../schemas/index.ts'
import type { Decision, Job } from '../../../streams/state/index.ts'
import type { PartitionStore } from '../../ground/ports/index.ts'

/** An entry of the table. It is called for each partition that the group gives to this process. */
export type Hook = (place: HookedPartition) => PartitionHook

export interface HookedPartition {
  readonly partition: number
  /** Lets the partition begin a commit cycle if it waits. */
  wake(): void
}

/** From the assignment of a partition to its end, across reopens. All members are optional. */
export interface PartitionHook {
  /** Whether it has jobs of its own, for which a commit cycle should begin at once. */
  readonly isPressing?: boolean
  /** A store was opened. Returns the store to use in its place. */
  opened?(store: PartitionStore): PartitionStore
  /** A commit cycle begins that may decide. */
  begin?(cycle: CycleRoom): HookedCycle | Promise<HookedCycle>
  /** The partition is opened again, or ends here. */
  closed?(): void
  /** The partition goes to another process. */
  left?(): void
}

export interface CycleRoom {
  store: PartitionStore
  /** How many jobs of its own a hook may give: `alone`, or beside timers. Less while a failing input is looked for; 0: none. */
  jobsMax(alone: number, besideTimers: number): number
}

/** The part of a hook in one commit cycle. */
export interface HookedCycle {
  /** Jobs of its own. Those for which the cycle has no room are not decided. */
  readonly ids: readonly string[]
  /** A name of the input, for failure isolation: no other input of the cycle has it. */
  nameOf(jobId: string): string
  /** The job as a timer, report, command or waiting run finds it. */
  before(job: Job, decisions: Decisions): Job
  /** Decides about one of its jobs. */
  decide(jobId: string, decisions: Decisions): void
  /** The decisions are committed and in the store. */
  committed(): void
}

/** How a hook lets the rules decide. */
export interface Decisions {
  /** The time of the batch, in epoch ms. */
  readonly now: number
  jobOf(jobId: string): Job
  /** Whether the input with this name makes every cycle fail. */
  isCulprit(name: string): boolean
  /** What the rules say to this command; of a culprit, what is left of its job. It counts when it is taken. `name`: of an input of its own. */
  decide(job: Job, command: JobCommand, name?: string): Decision
  take(before: Job, decision: Decision): void
}
