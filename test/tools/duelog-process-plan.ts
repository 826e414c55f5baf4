/** What a scheduler under test is told, in its own process or in that of the test, and what it says. */

/**
 * Where a scheduler ends itself as kill −9 would. A commit counts when it dispatches something.
 *   before-send     the commit was decided, nothing has left the process
 *   before-end      every record is written, EndTxn is not sent
 *   end-sent        EndTxn has left the process, its answer is not awaited
 *   after-commit    the broker has said that the transaction is committed, the store has not heard of it
 *   after-apply     the store has it, nothing was done after
 *   before-claim    the transactional id is taken, the claim is not committed
 */
export const crashPoints = ['before-send', 'before-end', 'end-sent', 'after-commit', 'after-apply', 'before-claim'] as const
export type CrashPoint = (typeof crashPoints)[number]

export interface Crash {
  point: CrashPoint
  /** At the n-th dispatching commit, from 1. Of no meaning for before-claim. */
  nth: number
  /** Commits that write to this topic of ours count too, without the prefix: job-commands for triggers, worker-control for cancellations. */
  also?: string
}

export interface SchedulerPlan {
  brokers: string[]
  registryUrl: string
  prefix: string
  partitions: number
  /** Folder of the local stores. */
  folder: string
  /** Default 1,500: takeovers within the patience of a test. */
  sessionTimeoutMs?: number
  /** What it shows to the group, read at each join. Default: nothing. */
  userData?: unknown
  /** Standbys of each partition. Default: none. */
  standbys?: number
  requestTimeoutMs?: number
  transactionTimeoutMs?: number
  /** A proxy that is asked in place of the broker. */
  proxyPort?: number
  crash?: Crash
  /** A topic of the user's that jobs may write to; commits that write to it count as dispatching. */
  targetTopic?: string
  /** Its clock is so far ahead: an absence that nobody has to wait for. Default: 0. */
  clockAheadMs?: number
  /** As long as there is a file of this name its stores refuse whatever is asked of them, as on a disk that is broken. */
  brokenFile?: string
  /** For so long after the first fetch no definition arrives, as while the leader of that partition changes; all else does. */
  lateJobsMs?: number
}

export interface PartitionReport {
  partition: number
  phase: string
  role: string
  /** Null while it has no store that can be read. */
  behindRecords: number | null
}

export interface SchedulerReport {
  partitions: PartitionReport[]
  fenced: number
  /** Reopenings by reason. */
  reopens: Record<string, number>
  invalid: Record<string, number>
  misrouted: number
}

/** From a child to the test. */
export type ChildMessage =
  | { kind: 'loaded' }
  | { kind: 'active' }
  | { kind: 'log'; level: number; message: string }
  | { kind: 'report'; report: SchedulerReport }
  | { kind: 'system'; url: string }
  | { kind: 'run'; jobId: string; runNo: number; attempt: number }
  /** The handler of a run saw its signal. */
  | { kind: 'aborted'; jobId: string; runNo: number; reason: string }
  | { kind: 'fatal'; message: string }
  | { kind: 'stopped' }
