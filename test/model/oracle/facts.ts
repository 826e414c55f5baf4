/**
 * The facts that the oracle knows about a history besides its logs: the faults of its world. It reads everything else from the
 * logs.
 */
import type { Execution } from '../../../schemas/generated.ts'
import type { Transaction } from '../../tools/memory-log.ts'

/** A pause of the pool that a process has read. */
export interface PauseRead {
  mode: string
  /** Epoch ms, in the record. */
  at: number
}

/** What processes knew of the pause of the pool when they decided. */
export interface PauseFacts {
  /** Transactions of owners that learned nothing new from the begin of the commit cycle on. Null: they knew of no pause. */
  decided: readonly { transaction: Transaction; pause: PauseRead | null }[]
  /** Attempts whose handlers were called by workers that knew that the pool was paused, and not only drained. */
  begun: readonly { worker: string; execution: Execution }[]
}

export interface Facts {
  /** True time of the judgement. */
  nowMs: number
  /** No period was so long that records expired before they were read, or that skips are only estimated. */
  exact: boolean
  /** Jobs that a command ended at some time. */
  cancelled: ReadonlySet<string>
  /** How far any machine's clock was at most ahead of true time, and behind it, in ms. 0: all were right. */
  aheadMs: number
  behindMs: number
  /** How early a run may be dispatched to a topic for runs that are ahead of their time, in ms. */
  leadMsMax: number
  /** How far the clock of any worker or forwarder was at most ahead of true time, in ms. */
  doersAheadMs: number
  /** Attempts whose handlers were called by workers that are still alive, with the true time of the call. */
  begun: readonly { worker: string; execution: Execution; atMs: number }[]
  /** The topic that jobs write to always existed. */
  steady: boolean
  /** No log ever lost records that had been read, or could have been read. */
  whole: boolean
  /** Not all workers have all handlers, and owners know which have. */
  mixedWorkers: boolean
  /** The pool was paused and resumed. Undefined: never. */
  pauses: PauseFacts | undefined
  /** Periods of true time in which every fault concerned single jobs only. */
  calms: readonly { fromMs: number; toMs: number }[]
  /** The maximum bytes of records that one process had read in one partition and not applied. */
  waiting: readonly { who: string; partition: number; bytes: number }[]
  /**
   * The maximum bytes of jobs that one process had read in one partition for one commit cycle, with the bytes of the largest of
   * these jobs.
   */
  loads: readonly { who: string; partition: number; bytes: number; largest: number }[]
  /** Each attempt must have been necessary. */
  necessity: boolean
  /** Duelog's own deletion of a job leaves a job that was defined again in the meantime. */
  revivalsStay: boolean
  /** The program cancels the runs of a deleted job at their workers. */
  deletionsTellWorkers: boolean
}
