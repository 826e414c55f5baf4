/** Port to the operations: changes of many jobs or dead runs, which go on in the background, and what they ask owners. */
import type { OperationCancel, OperationProgress, OperationRequest } from '../../../schemas/index.ts'
import type { Asker, JobFilter } from './owner-views.ts'

/** An operation as its records say. */
export interface Operation {
  id: string
  /** When it was asked for, epoch ms. */
  createdAt: number
  request: OperationRequest
  /** Undefined until a process has begun it. */
  progress: OperationProgress | undefined
  /** Undefined unless somebody cancelled it. */
  cancel: OperationCancel | undefined
}

export interface Operations {
  /**
   * Begins an operation. A repeat by the same actor with the same `key` returns the first. Rejects with `overloaded` if too many go on,
   * and with `payload-too-large` if its lists do not fit in a record.
   */
  create(request: OperationRequest, key?: string): Promise<Operation>
  /** The number of jobs or dead runs that it would find now. */
  count(request: OperationRequest, asker?: Asker): Promise<number>
  /** Rejects with `not-ready` while the topic cannot be read. */
  get(id: string): Promise<Operation | undefined>
  /** Newest first. */
  list(): Promise<Operation[]>
  /** Ends it early. Undefined: there is no such operation. An operation that has ended stays as it is. */
  cancel(id: string, actor: string | null): Promise<Operation | undefined>
}

/** Changes of jobs that the owner makes itself, without a command for each (ADR 0094). */
export type BulkAction = 'PAUSE' | 'RESUME' | 'CANCEL' | 'TRIGGER'
/** Changes of jobs. Owners are told of them. The jobs of a DELETE get tombstones from the operation (ADR 0099). */
export type JobAction = BulkAction | 'DELETE'
/** Changes of dead runs, and of active runs. */
export type RunAction = 'REDRIVE' | 'DISCARD' | 'CANCEL_RUN'
export type OperationAction = JobAction | RunAction

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

/** Tells the owner of a partition of an operation, before its jobs are changed one after another. */
export interface AnnounceQuery {
  action: JobAction
  filter: JobFilter
  commandId: string
  /** When the operation was asked for, epoch ms. Several operations change a job in this order. */
  createdAt: number
  /** Default: now. */
  cutOff?: CutOff
  /** Jobs up to this one are done, in the order of their bytes. */
  after?: string
  /** DELETE: jobs up to this one are counted, because they were listed; their tombstones are being written. */
  listed?: string
  /** The operation ends here: jobs that it has not changed stay as they are. */
  isOver: boolean
  /** 0: it is answered at once. Otherwise after this time, or as soon as the partition leaves this process, with `not-ready`. */
  waitMs: number
}

export interface Announced {
  cutOff: CutOff
  /** Whether this process fires the partition now. It may be about to take it over. */
  isActive: boolean
  /** Jobs that were changed before the walk came to them, and that no answer of `change` has counted yet. Targets of a DELETE have none of them. */
  ahead: number
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
  /** For TRIGGER: media type of the job's payload; null: none. */
  contentType?: string | null
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
