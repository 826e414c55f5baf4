/** Port to the owners: the jobs and dead runs that an operation changes. */
import type { JobFilter } from './owner-views.ts'

/** Changes of jobs, of dead runs, and of active runs. */
export const jobActions = ['PAUSE', 'RESUME', 'CANCEL', 'TRIGGER', 'DELETE'] as const
export const runActions = ['REDRIVE', 'DISCARD', 'CANCEL_RUN'] as const
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

/** Changes of jobs that the owner makes itself, without a command for each (ADR 0094). */
export const bulkActions = ['PAUSE', 'RESUME', 'CANCEL', 'TRIGGER'] as const
export type BulkAction = (typeof bulkActions)[number]

export interface ChangeQuery {
  action: BulkAction
  filter: JobFilter
  cutOff: CutOff
  /** The same for each job: a job takes it once, so a repeated call changes nothing twice. */
  commandId: string
  /** Only jobs after this one, in the order of their bytes. */
  after?: string
  /** An earlier call from the same place may have had an effect. Jobs that it changed are found and counted again. */
  isRepeat: boolean
  /** Largest number of jobs that are changed. */
  limit: number
}

export interface Changes {
  /** Number of jobs that are changed, by this call or an earlier one. */
  changed: number
  /** Refusals by reason, each with its first job. */
  refused: ChangeRefusal[]
  /** The `after` of the next call; absent at the end. */
  next?: string
}

export interface ChangeRefusal {
  code: string
  reason: string
  count: number
  example: string
}

export interface Target {
  id: string
  /** Offset in jobs of the definition in force. */
  offset: number
  /** For a change of runs: their numbers. */
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
