/** Port to the owners: the jobs and dead runs that an operation changes. */
import type { JobFilter } from './owner-views.ts'

/** Changes of jobs, of dead runs, and of active runs. */
export const jobActions = ['PAUSE', 'RESUME', 'CANCEL', 'TRIGGER', 'DELETE'] as const
export const runActions = ['REDRIVE', 'DISCARD', 'CANCEL_RUN'] as const
export type OperationAction = (typeof jobActions)[number] | (typeof runActions)[number]

/** TRIGGER in the record of an operation with a payload. An earlier version would carry out TRIGGER without it (ADR 0104). */
export const triggerWithPayload = 'TRIGGER_WITH_PAYLOAD'

/**
 * REDRIVE and DISCARD in the record of an operation that chooses dead runs by their ends. An earlier version would change all runs of the
 * jobs, so these names leave the operation to processes that know the filter.
 */
export const partialActions: Readonly<Record<string, OperationAction>> = {
  REDRIVE_CHOSEN: 'REDRIVE',
  DISCARD_CHOSEN: 'DISCARD',
}

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

const immediateActions: ReadonlySet<OperationAction> = new Set<OperationAction>(['PAUSE', 'CANCEL', 'DELETE'])

/** Operations of which the owners are told. The jobs of a DELETE get tombstones from the operation (ADR 0099). */
export const announcedActions = [...bulkActions, 'DELETE'] as const
export type AnnouncedAction = (typeof announcedActions)[number]

/**
 * Whether a change holds for all its jobs from the moment their owners know of it: a job that comes up is changed first (ADR 0098). With
 * another status a job does not fire, and if it left that status ahead of the walk, the walk would not find it to count it.
 */
export const isImmediate = (action: OperationAction, { status }: JobFilter): boolean =>
  immediateActions.has(action) && (status === undefined || status === 'ACTIVE')

/** Beginning of the commandIds of an operation. */
export const commandPrefixOf = (operationId: string): string => `operation/${operationId}/`

/** The command by which an operation changes a job, except runs. */
export const commandIdOf = ({ commandPrefix, action }: { commandPrefix: string; action: OperationAction }): string =>
  `${commandPrefix}${action.toLowerCase()}`

/** Tells the owner of a partition of an operation, before its jobs are changed one after another. */
export interface AnnounceQuery {
  action: AnnouncedAction
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
  /** For TRIGGER: media type of the job's payload; null: none. Absent: the owner is of an earlier version. */
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
