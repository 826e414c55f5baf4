/** The ends of runs that a store keeps of a job, and whether the end that a caller waits for is among them. */
import type { FinishedRun, JobState } from '../../../schemas/index.ts'
import { reasonText } from '../../../streams/jobs/index.ts'
import { type Job, pristineState, runHistorySize, runKey, snapshotKey } from '../../../streams/state/index.ts'
import type { AwaitedRun, RunEnd, StoreReader } from '../../ground/ports/index.ts'
import type { SchedulerCodecs } from '../options/index.ts'
import { entryOf } from '../state/index.ts'

/** The ended runs of a job that are kept, in any order. */
export async function endedRunsOf(
  store: StoreReader,
  codecs: SchedulerCodecs,
  id: string,
  state: Pick<JobState, 'lastRun'> | undefined,
): Promise<FinishedRun[]> {
  const finished: FinishedRun[] = state?.lastRun ? [state.lastRun] : []
  const slots = await store.get(Array.from({ length: runHistorySize }, (_, index) => runKey(id, index)))
  for (const value of slots) {
    const run = (await entryOf(codecs, value))?.run ?? null
    if (run !== null) finished.push(run)
  }
  return finished
}

/** Dead runs whose entries are read together: each has an input, and few are large (streams/runs/ended-run.ts). */
const deadAtOnce = 100

/** How the dead runs of a job ended, by their numbers. */
export async function deadEndsOf(
  store: StoreReader,
  codecs: SchedulerCodecs,
  id: string,
  { deadRuns, lastRun }: Pick<JobState, 'deadRuns' | 'lastRun'>,
): Promise<Map<number, FinishedRun>> {
  const isLast = deadRuns.every((runNo) => runNo === lastRun?.runNo)
  const history = isLast && lastRun ? [lastRun] : await endedRunsOf(store, codecs, id, { lastRun })
  const dead = new Set(deadRuns)
  const ends = new Map(history.filter(({ runNo }) => dead.has(runNo)).map((run) => [run.runNo, run]))
  const others = deadRuns.filter((runNo) => !ends.has(runNo))
  for (let at = 0; at < others.length; at += deadAtOnce) {
    const values = await store.get(others.slice(at, at + deadAtOnce).map((runNo) => snapshotKey(id, runNo)))
    for (const value of values) {
      const run = (await entryOf(codecs, value))?.run ?? null
      if (run !== null) ends.set(run.runNo, run)
    }
  }
  return ends
}

/** The end of the run that a caller waits for: whether it has come, may still come, or cannot come. */

/** Undefined: the run may still end. `finished`: the ended runs that are kept. */
export function runEndOf(
  job: Job | undefined,
  finished: readonly FinishedRun[],
  awaited: AwaitedRun,
  nowMs: number,
): RunEnd | undefined {
  if (job?.definition === undefined) return none('The job does not exist, or was deleted.')
  const state = job.state ?? pristineState(job)
  const isIt = matcherOf(awaited)
  const ended = finished.filter(isIt).sort((a, b) => a.runNo - b.runNo)[0]
  if (ended !== undefined) return { run: ended, reason: null }
  if (state.active.some(isIt)) return undefined
  if ('runNo' in awaited) return none(runMissing(state, awaited.runNo, nowMs))
  if ('commandId' in awaited) return none(commandMissing(state, awaited.commandId))
  return none(definitionMissing(job.definition.offset, state, awaited.specOffset))
}

function none(reason: string | undefined): RunEnd | undefined {
  return reason === undefined ? undefined : { run: null, reason }
}

function matcherOf(
  awaited: AwaitedRun,
): (run: { runNo: number; commandId: string | null; specOffset: number | null }) => boolean {
  if ('runNo' in awaited) return ({ runNo }) => runNo === awaited.runNo
  if ('commandId' in awaited) return ({ commandId }) => commandId === awaited.commandId
  return ({ specOffset }) => specOffset === awaited.specOffset
}

/** Undefined: it is the next run of the job, which is due. A caller that has just written the job asks before it fires. */
function runMissing(state: JobState, runNo: number, nowMs: number): string | undefined {
  if (runNo <= state.runNo) return `Run ${runNo} has ended, and it is older than the runs that are kept.`
  const dueAt = state.nextDueAt ?? state.nextFireAt
  const isDue = state.status === 'ACTIVE' && dueAt !== null && dueAt <= nowMs
  return isDue && runNo === state.runNo + 1 ? undefined : `There is no run ${runNo} yet; the last one is ${state.runNo}.`
}

function commandMissing({ decisions }: JobState, commandId: string): string {
  const refused = decisions.find((refusal) => refusal.commandId === commandId)
  if (refused !== undefined) return `The command made no run: ${reasonText(refused.reason)}.`
  return 'The command made no run, or its run is older than the runs that are kept.'
}

/** Undefined: the definition may still make a run. `offset`: that of the definition in force. */
function definitionMissing(offset: number, state: JobState, specOffset: number): string | undefined {
  if (offset > specOffset)
    return 'The definition was replaced by a later one before a run of it ended, or its runs are older than those that are kept.'
  if (offset < specOffset) {
    const dropped = state.decisions.findLast(({ what, commandId }) => what === 'DROPPED' && commandId === null)
    return `The definition was dropped: ${reasonText(dropped?.reason ?? 'precondition')}.`
  }
  if (state.status === 'INVALID') return `The job is invalid: ${state.reason ?? 'its definition cannot be used'}`
  if (state.status !== 'COMPLETED' || state.active.length > 0) return undefined
  return 'The job is completed without a run of this definition; its why has the reason.'
}
