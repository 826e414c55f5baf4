/** The plan of a scheduler under test, in its own process or in that of the test, and the messages it sends. */

/**
 * The points at which a scheduler ends itself as kill −9 would. A commit counts when it dispatches something.
 *   before-send     the commit is decided, nothing has left the process
 *   before-end      every record is written, EndTxn is not sent
 *   end-sent        EndTxn has left the process, its answer is not awaited
 *   after-commit    the broker has said that the transaction is committed, the store does not have it
 *   after-apply     the store has it, nothing has happened after that
 *   before-claim    the transactional id is taken, the claim is not committed
 */
export const crashPoints = ['before-send', 'before-end', 'end-sent', 'after-commit', 'after-apply', 'before-claim'] as const
export type CrashPoint = (typeof crashPoints)[number]
export const crashPointsOfCommits = crashPoints.filter((point) => point !== 'before-claim')
/**
 * Those after which the log and the store of the next owner differ most: records that no reader may see, and a commit that only the log
 * has. test/faults/crash-points.test.ts tries all of them; tests of what else a commit does try these.
 */
export const tellingCrashPoints: readonly CrashPoint[] = ['before-end', 'after-commit']

export interface Crash {
  point: CrashPoint
  /** At the n-th dispatching commit, from 1. It has no meaning for before-claim. */
  nth: number
  /**
   * Commits that write to this topic (name without the prefix) count too: job-commands for triggers, worker-control for
   * cancellations.
   */
  also?: string
}

export interface SchedulerPlan {
  brokers: string[]
  registryUrl: string
  prefix: string
  partitions: number
  /** Folder of the local stores. */
  folder: string
  /** Default 1,500: short enough for takeovers in a test. */
  sessionTimeoutMs?: number
  /** The user data it shows to the group, read at each join. Default: none. */
  userData?: unknown
  /** Standbys of each partition. Default: none. */
  standbys?: number
  requestTimeoutMs?: number
  transactionTimeoutMs?: number
  /** The port of a proxy that it uses in place of the broker. */
  proxyPort?: number
  crash?: Crash
  /** A topic of the user, to which jobs may write. Commits that write to it count as dispatching. */
  targetTopic?: string
  /** How far its clock is ahead, to simulate an absence without waiting. Default: 0. */
  clockAheadMs?: number
  /** While a file of this name exists, its stores refuse every call, as on a broken disk. */
  brokenFile?: string
  /**
   * For this long after the first fetch no definition arrives, as during a change of leader of that partition. All other records
   * arrive.
   */
  lateJobsMs?: number
}

export interface PartitionReport {
  partition: number
  phase: string
  role: string
  /** Null while it has no readable store. */
  behindRecords: number | null
}

export interface SchedulerReport {
  partitions: PartitionReport[]
  fenced: number
  /** Reopens by reason. */
  reopens: Record<string, number>
  invalid: Record<string, number>
  misrouted: number
}

/** Messages from a child to the test. */
export type ChildMessage =
  | { kind: 'loaded' }
  | { kind: 'active' }
  | { kind: 'log'; level: number; message: string }
  | { kind: 'report'; report: SchedulerReport }
  | { kind: 'system'; url: string }
  | { kind: 'run'; jobId: string; runNo: number; attempt: number }
  /** The signal of the handler of a run was aborted. */
  | { kind: 'aborted'; jobId: string; runNo: number; reason: string }
  | { kind: 'fatal'; message: string }
  | { kind: 'stopped' }
