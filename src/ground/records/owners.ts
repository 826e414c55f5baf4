/** What owners and those who ask them share: the words of operations, and the order and the sums of answers. Each owner answers for its partitions, and who asks all of them adds up again. */
import type {
  BulkAction,
  DeadPlace,
  DueJob,
  ErrorKindCount,
  JobAction,
  JobFilter,
  JobView,
  Operation,
  OperationAction,
  RunAction,
} from '../ports/index.ts'

/** Operations, as those who ask for them and those who carry them out name them. */
export const bulkActions = ['PAUSE', 'RESUME', 'CANCEL', 'TRIGGER'] as const satisfies readonly BulkAction[]
export const jobActions = [...bulkActions, 'DELETE'] as const satisfies readonly JobAction[]
export const runActions = ['REDRIVE', 'DISCARD', 'CANCEL_RUN'] as const satisfies readonly RunAction[]

const immediateActions: ReadonlySet<OperationAction> = new Set<OperationAction>(['PAUSE', 'CANCEL', 'DELETE'])

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

export const hasEnded = ({ progress }: Operation): boolean => progress !== undefined && progress.endedAt !== null

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

/** The rarest first, which ticks would hide otherwise; then the earliest. */
export const inRarity = (a: DueJob, b: DueJob): number => a.count - b.count || a.at - b.at || (a.id < b.id ? -1 : 1)

/** Size of the large parts of a job view, which limits the length of lists: bytes or characters of payload, result, headers and error messages. */
export function sizeOfView({
  definition,
  lastRun,
  active,
  deadRuns,
}: Pick<JobView, 'definition' | 'lastRun' | 'active' | 'deadRuns'>): number {
  let size = (definition?.payload?.length ?? 0) + (lastRun?.result?.length ?? 0) + 8 * deadRuns.length
  for (const value of Object.values(definition?.headers ?? {})) size += value.length
  for (const { errors } of active) for (const { message } of errors) size += message.length
  return size
}

/**
 * Sentence of every answer if an owner decides nothing for now because of its clock. `instance` is name@host:pid:boot of the owner.
 * `problem` is about its machine.
 */
export const ownerProblem = (instance: string | undefined, problem: string | null | undefined): string | undefined =>
  problem == null
    ? undefined
    : `The owner of its partition, ${instance ?? 'another process'}, decides nothing for now. ${problem}`

/** The id of a fault that an auditor found. */
export const faultIdOf = (partition: number, no: number): string => `${partition}.${no}`
