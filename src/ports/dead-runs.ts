/** Port to the owners: the dead runs of a partition that can be redriven, newest first. */
import type { Execution, FinishedRun, JobDefinition } from '../../schemas/index.ts'
import type { JobFilter } from './owner-views.ts'

/** Where a run stands in the order of the list. */
export interface DeadPlace {
  /** When it died, epoch ms; 0 if only its input is kept. */
  at: number
  jobId: string
  runNo: number
}

export interface DeadRunsQuery {
  filter: JobFilter
  /** Largest number of runs. */
  limit: number
  /** Only runs behind this place. */
  before?: DeadPlace
  /** Only jobs after this one, in the order of their bytes. */
  after?: string
  /** The errors of a run with headers or an HTTP target may hold secrets: no filter of errors finds it, and its kind is not told. */
  harmlessOnly: boolean
}

/** A dead run with what is needed to show it. */
export interface DeadRun {
  place: DeadPlace
  /** Its job, without payload. */
  job: { offset: number; definition: JobDefinition | undefined }
  /** Without stacks. Null: more runs have ended since than are kept, and only its input is. */
  run: FinishedRun | null
  /** Without payload; only if `run` is null. */
  input: Execution | null
}

/** Dead runs whose last errors differ only in numbers and ids. */
export interface ErrorKindCount {
  /** Empty: the error is not kept, or not told. */
  kind: string
  type: string
  /** Message of the newest. */
  message: string
  count: number
  newestAt: number
}

export interface DeadRuns {
  /** Newest first. */
  runs: DeadRun[]
  /** More match than are in `runs`, all of them behind its last. */
  isCut: boolean
  /** Runs that match, those before the place included. */
  count: number
  /** Older dead runs of the same jobs that are no longer kept. Absent from an owner of an earlier version. */
  dropped?: number
  /** Their most frequent errors. */
  kinds: ErrorKindCount[]
  /** The `after` of the next call; absent at the end. */
  next?: string
}

/** Newest first; those of one instant in the order of their jobs. */
export function byDeath(left: DeadPlace, right: DeadPlace): number {
  if (left.at !== right.at) return right.at - left.at
  const order = Buffer.compare(Buffer.from(left.jobId), Buffer.from(right.jobId))
  return order === 0 ? right.runNo - left.runNo : order
}

/** Kinds of errors that are told apart, so that a list of them stays short. */
export const errorKindsMax = 200

/** Adds the counts of one part to those of others. Kinds beyond the limit are left out. */
export function addKind(kinds: Map<string, ErrorKindCount>, added: ErrorKindCount): void {
  const known = kinds.get(added.kind)
  if (known === undefined) {
    if (kinds.size < errorKindsMax) kinds.set(added.kind, { ...added })
    return
  }
  known.count += added.count
  if (added.newestAt > known.newestAt)
    Object.assign(known, { message: added.message, type: added.type, newestAt: added.newestAt })
}
