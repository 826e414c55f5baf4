/** The end of the run that a caller waits for: whether it has come, may still come, or cannot come. */
import type { FinishedRun, JobState } from '../../../schemas/index.ts'
import { reasonText } from '../../../streams/jobs/index.ts'
import { type Job, pristineState } from '../../../streams/state/index.ts'
import type { AwaitedRun, RunEnd } from '../../ports/index.ts'

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
