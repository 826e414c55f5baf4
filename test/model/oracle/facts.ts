/** What the oracle is told of a history besides its logs: what its world went through. Everything else it reads. */
import type { Execution } from '../../../schemas/generated.ts'

export interface Facts {
  /** True time of the judgement. */
  nowMs: number
  /** No stretch of time was so long that records went before anybody read them, or that skips are only estimated. */
  exact: boolean
  /** Jobs that a command ended at some time. */
  cancelled: ReadonlySet<string>
  /** Most that any machine's clock was ever ahead of true time, and behind, in ms. 0: all were right. */
  aheadMs: number
  behindMs: number
  /** Most that the clock of any worker or forwarder was ahead of true time, in ms. */
  doersAheadMs: number
  /** Attempts whose handlers workers have called that live on, and the true time of that. */
  begun: readonly { worker: string; execution: Execution; atMs: number }[]
  /** The topic that jobs write to was always there. */
  steady: boolean
  /** No log ever lost what had been read of it, or could have been. */
  whole: boolean
  /** Stretches of true time in which nothing befell more than single jobs. */
  calms: readonly { fromMs: number; toMs: number }[]
  /** Bytes of records that one process had read in one partition and not folded, when they were most. */
  waiting: readonly { who: string; partition: number; bytes: number }[]
  /** Bytes of jobs that one process had read in one partition for one turn, with those of the largest of them, when they were most. */
  loads: readonly { who: string; partition: number; bytes: number; largest: number }[]
  /** Each attempt must have been necessary. */
  necessity: boolean
  /** Duelog's own deletion of a job leaves what has been revived meanwhile. */
  revivalsStay: boolean
  /** The program tells the workers of runs whose job is deleted. */
  deletionsTellWorkers: boolean
}
