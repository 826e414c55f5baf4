/** Port to the owners: the jobs and dead runs that an operation changes. */
import type { JobFilter } from './owner-views.ts'

/** Changes of jobs, and of dead runs. */
export const jobActions = ['PAUSE', 'RESUME', 'CANCEL', 'TRIGGER', 'DELETE'] as const
export const runActions = ['REDRIVE', 'DISCARD'] as const
export type OperationAction = (typeof jobActions)[number] | (typeof runActions)[number]

/** What existed when an operation began, by the owner of one partition. */
export interface CutOff {
  /** Jobs that were first defined at or after this offset of jobs came later. */
  jobsOffset: number
  /** Runs that died after this time of the owner's clock came later, epoch ms. */
  at: number
}

export interface TargetQuery {
  action: OperationAction
  filter?: JobFilter
  /** Only these jobs, instead of a filter, in the order of their bytes. */
  ids?: readonly string[]
  /** Beginning of the commandIds of the operation's redrives: the runs that it made are no targets. */
  commandPrefix: string
  /** Only jobs after `after` and up to `until`, in the order of their bytes. */
  after?: string
  until?: string
  /** Largest number of jobs. 0: only the cut-off is asked for. */
  limit: number
  /** True: they are counted, and not returned. */
  countOnly?: boolean
  /** Default: now. */
  cutOff?: CutOff
}

export interface Target {
  id: string
  /** Offset in jobs of the definition in force. */
  offset: number
  /** For a change of dead runs: their numbers. */
  runs?: number[]
  /** For a redrive: number of runs that the job may have besides its active ones. */
  room?: number
}

export interface Targets {
  targets: Target[]
  /** Number of jobs or dead runs. */
  count: number
  /** The `after` of the next call; absent at the end. */
  next?: string
  cutOff: CutOff
}
