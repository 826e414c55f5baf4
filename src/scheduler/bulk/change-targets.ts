/** The jobs and dead runs of a partition that an operation changes, in the order of job ids with bounded work for each call, and what it does to one job. */
import type { JobCommand, JobState } from '../../../schemas/index.ts'
import { completeCommand } from '../../../streams/definitions/index.ts'
import { deadRunsBy } from '../../../streams/runs/index.ts'
import { type Job, markOf, pristineState } from '../../../streams/state/index.ts'
import type {
  CutOff,
  JobAction,
  JobFilter,
  OperationAction,
  PartitionStore,
  Target,
  TargetQuery,
  Targets,
} from '../../ground/ports/index.ts'
import { commandIdOf } from '../../ground/records/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { byBytes, deadEndsOf, diedAs, matchesJob, walkOf } from '../queries/index.ts'
import { eachJob } from '../state/index.ts'

/** Jobs that one call reads, and their dead runs if it changes those. */
const readMax = 10_000
const slice = 500

interface Place {
  store: PartitionStore
  codecs: SchedulerCodecs
}
type Query = TargetQuery & { cutOff: CutOff }

/** The jobs and dead runs of a partition that an operation changes, in the order of job ids, with bounded work for each call. */
export async function changeTargets(place: Place, query: Query): Promise<Targets> {
  const { action, cutOff, limit, until, countOnly = false } = query
  const found: Targets = { targets: [], count: 0, cutOff }
  if (limit === 0) return found
  // While owners change jobs, those that are changed already are counted too. Those that they delete are no targets any more.
  const mark = countOnly || action === 'DELETE' ? markOf(commandIdOf(query)) : undefined
  let jobs = 0
  let read = 0
  let cursor = query.after
  for await (const slice of idsOf(place, query)) {
    for await (const job of eachJob(place.store, place.codecs, slice)) {
      if (until !== undefined && byBytes(job.id, until) > 0) return found
      cursor = job.id
      read += 1 + (isOfDead(action) ? (job.state?.deadRuns.length ?? 0) : 0)
      const target = await targetOf(place, job, query, mark)
      if (target === undefined) continue
      jobs++
      found.count += target.runs?.length ?? 1
      if (!countOnly) found.targets.push(target)
      if ((!countOnly && jobs >= limit) || read >= readMax) return { ...found, next: cursor }
    }
  }
  return found
}

/** Ids of the jobs to look at, in slices. */
async function* idsOf({ store }: Place, { ids, filter = {}, action, after }: Query): AsyncGenerator<string[]> {
  if (ids !== undefined) {
    const wanted = ids.filter((id) => after === undefined || byBytes(id, after) > 0)
    for (let at = 0; at < wanted.length; at += slice) yield wanted.slice(at, at + slice)
    return
  }
  const walk = walkOf(narrowed(filter, action))
  for (let cursor = after; ; ) {
    const entries = await store.scan({ ...walk.rangeAfter(cursor), limit: slice, keysOnly: true })
    const found = entries.map(({ key }) => walk.idOf(key))
    if (found.length > 0) yield found
    if (entries.length < slice) return
    cursor = found.at(-1)
  }
}

/** With the index of dead runs, jobs without one are not read. */
const narrowed = (filter: JobFilter, action: OperationAction): JobFilter =>
  isOfDead(action) ? { ...filter, dead: true } : filter

const isOfDead = (action: OperationAction): boolean => action === 'REDRIVE' || action === 'DISCARD'

/** Undefined: the job is not changed. */
async function targetOf(place: Place, job: Job, query: Query, mark: number | undefined): Promise<Target | undefined> {
  const { action, filter, cutOff, commandPrefix, countOnly = false } = query
  const { definition } = job
  if (definition === undefined) return undefined
  const state = job.state ?? pristineState(job)
  const target = { id: job.id, offset: definition.offset }
  const isReached = mark !== undefined && state.recentCommands.includes(mark)
  if (isReached && countOnly) return target
  // A job that got a run since is not deleted by its owner.
  if (isReached && state.deleteAt !== null) return undefined
  if (filter !== undefined && !matchesJob(job, state, filter)) return undefined
  if (action === 'CANCEL_RUN') {
    const runs = activeRunsBy(state, query)
    return runs.length === 0 ? undefined : { ...target, runs }
  }
  if (!isOfDead(action)) {
    if (!existed(definition, state, query) || !wouldChange(action, state)) return undefined
    return action === 'TRIGGER' ? { ...target, contentType: definition.spec?.contentType ?? null } : target
  }
  if (state.deadRuns.length === 0) return undefined
  const ends = await deadEndsOf(place.store, place.codecs, job.id, state)
  const died = deadRunsBy(state.deadRuns, ends, { at: cutOff.at, commandPrefix })
  const runs = died.filter((run) => diedAs(run, filter ?? {})).map(({ runNo }) => runNo)
  if (runs.length === 0) return undefined
  if (action === 'DISCARD') return { ...target, runs }
  return { ...target, runs, room: Math.max(0, (definition.spec?.maxConcurrentRuns ?? 0) - state.active.length) }
}

/** Runs that began before the operation and are in the state that is asked for. */
function activeRunsBy({ active }: JobState, { cutOff, commandPrefix, filter }: Query): number[] {
  const began = active.filter(({ attempt, dispatchedAt }) => attempt > 1 || dispatchedAt <= cutOff.at)
  const chosen = began.filter(({ status }) => filter?.runStatus === undefined || status === filter.runStatus)
  return chosen.filter(({ commandId }) => !commandId?.startsWith(commandPrefix)).map(({ runNo }) => runNo)
}

/** Whether the job is one of the filter, and existed at the cut-off. */
export function isChosen(
  job: Job,
  state: JobState,
  query: { action: OperationAction; filter: JobFilter; cutOff: CutOff },
): boolean {
  const { definition } = job
  return definition !== undefined && existed(definition, state, query) && matchesJob(job, state, query.filter)
}

/** A deletion concerns the definition that was in force, other changes concern the job. */
function existed(
  { offset }: { offset: number },
  state: JobState,
  { action, cutOff }: { action: OperationAction; cutOff: CutOff },
): boolean {
  return (action === 'DELETE' ? offset : firstOffsetOf(state, offset)) < cutOff.jobsOffset
}

/** Offset in jobs of the first definition of this life of the job. A life that began without a definition does not tell it. */
function firstOffsetOf({ life }: JobState, offset: number): number {
  const first = Number.parseInt(life, 10)
  return Number.isNaN(first) ? offset : Math.min(first, offset)
}

/** False: the job is already so. */
export function wouldChange(action: OperationAction, { status, pausedByCommand, active }: JobState): boolean {
  switch (action) {
    case 'PAUSE':
      return status === 'ACTIVE' || (status === 'INVALID' && !pausedByCommand)
    case 'RESUME':
      return status === 'PAUSED' || (status === 'INVALID' && pausedByCommand)
    case 'CANCEL':
      return status !== 'COMPLETED' || active.length > 0
    default:
      return true
  }
}

/** What a change of many jobs does to one job. */

export type Verdict = { kind: 'wanted' } | { kind: 'done' } | { kind: 'refused'; code: string } | { kind: 'other' }

interface Wanted {
  action: JobAction
  filter: JobFilter
  cutOff: CutOff
  /** The same for each job: a job takes it once. */
  commandId: string
}

export class ChangeRule {
  readonly command: JobCommand
  readonly #wanted: Wanted
  readonly #mark: number

  constructor(wanted: Wanted, nowMs: number) {
    const { action, commandId } = wanted
    this.#wanted = wanted
    this.#mark = markOf(commandId)
    // Until its tombstone is read, a job that is deleted is one that nobody runs any more.
    this.command = completeCommand({ type: action === 'DELETE' ? 'CANCEL' : action, commandId, at: nowMs })
  }

  /** Whether the job has taken the change. */
  hasReached({ state }: Job): boolean {
    return state?.recentCommands.includes(this.#mark) ?? false
  }

  judge(job: Job): Verdict {
    const { action, filter, cutOff, commandId } = this.#wanted
    if (this.hasReached(job)) {
      const refusal = job.state?.decisions.find((one) => one.commandId === commandId)
      return refusal === undefined ? { kind: 'done' } : { kind: 'refused', code: refusal.reason }
    }
    const state = job.state ?? pristineState(job)
    // Others do not fire, and wait for their tombstones.
    const isWanted = action === 'DELETE' ? state.status === 'ACTIVE' : wouldChange(action, state)
    return isWanted && isChosen(job, state, { action, filter, cutOff }) ? { kind: 'wanted' } : { kind: 'other' }
  }
}
