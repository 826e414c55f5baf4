/** What a job remembers for its operator and for senders of commands: refusals, and its recent commands. */
import type { EndedRun, JobCommand, JobState, Refusal, RefusalInput } from '../../schemas/index.ts'
import { handlerOf, poolOf } from '../targets/index.ts'
import { hashFraction } from '../text/index.ts'
import { patchState, pristineState } from './draft.ts'
import type { Decision, Job, SkipReason } from './job.ts'

/** Refusals that a job remembers. Refusals of commands come on top: they stay as long as the command is known, so that a repetition gets the same answer. */
const refusalsKept = 12

/** Notes a refusal. Consecutive refusals for the same reason are counted together. */
export function refuse(draft: Decision, refusal: RefusalInput): void {
  const { decisions, recentCommands } = draft.job.state ?? pristineState(draft.job)
  patchState(draft, { decisions: kept(noted(decisions, refusal), recentCommands) })
}

function kept(decisions: JobState['decisions'], recentCommands: readonly number[]): JobState['decisions'] {
  if (decisions.length <= refusalsKept) return decisions
  const known = new Set(recentCommands)
  const isOfKnown = ({ commandId }: Refusal): boolean => commandId !== null && known.has(markOf(commandId))
  let surplus = decisions.filter((refusal) => !isOfKnown(refusal)).length - refusalsKept
  return decisions.filter((refusal) => isOfKnown(refusal) || surplus-- <= 0)
}

function noted(before: JobState['decisions'], refusal: RefusalInput): JobState['decisions'] {
  const { at, what, reason, scheduledFor = null, runNo = null, count = 1, commandId = null } = refusal
  const last = before.at(-1)
  if (last !== undefined && last.what === what && last.reason === reason && sameSubject(last, { runNo, commandId })) {
    return [...before.slice(0, -1), { ...last, at, count: last.count + count }]
  }
  return [...before, { at, what, reason, scheduledFor, runNo, count, commandId }]
}

/** A refusal that names a run or a command is never counted with others, so that it can be found. */
const sameSubject = (...refusals: Pick<Refusal, 'runNo' | 'commandId'>[]): boolean =>
  refusals.every(({ runNo, commandId }) => runNo === null && commandId === null)

/** Refuses a command. Its sender sees it in a receipt or in the reasons of the job. */
export function refuseCommand(draft: Decision, command: JobCommand, reason: string, at: number): void {
  const { commandId, runNo, trigger, type } = command
  // No sender waits for the answer to a follow-up, and there may be many.
  refuse(draft, { at, what: 'DROPPED', reason, runNo, commandId: trigger === 'FOLLOW_UP' ? null : commandId })
  draft.refusal = reason
  draft.notes.push({ kind: 'refused', what: type === 'TRIGGER' ? trigger : type, reason, count: 1 })
}

/** Skips occurrences and counts them. */
export function skip(
  draft: Decision,
  reason: SkipReason,
  count: number,
  { at, scheduledFor }: { at: number; scheduledFor: number },
): void {
  const state = draft.job.state ?? pristineState(draft.job)
  patchState(draft, { skipped: state.skipped + count, reason: `skipped: ${reason}` })
  refuse(draft, { at, what: 'SKIPPED', reason, scheduledFor, count })
  if (count > 0) draft.endedRuns.push(skippedOf(draft.job, reason, count, { at, scheduledFor }))
  draft.notes.push({ kind: 'skipped', reason, count })
}

/** The record of skipped occurrences for the topic `runs`. They have no run, so its number is 0. */
function skippedOf(
  { id, definition, state }: Job,
  reason: SkipReason,
  count: number,
  { at, scheduledFor }: { at: number; scheduledFor: number },
): EndedRun {
  const { target, tags = [] } = definition?.spec ?? {}
  return {
    ...{ jobId: id, runNo: 0, life: state?.life ?? '', outcome: 'SKIPPED', reason, trigger: 'SCHEDULE', commandId: null },
    ...{ handler: target === undefined ? null : handlerOf(target), topic: target?.topic?.name ?? null },
    ...{ pool: target === undefined ? null : poolOf(target), tags, scheduledFor, dueAt: null, startedAt: null },
    ...{ finishedAt: at, attempts: 0, worker: null, errorType: null, errorMessage: null, result: null, resultBytes: 0 },
    note: count === 1 ? null : `${count} occurrences`,
    ...{ mayHoldSecrets: false, traceparent: null },
  }
}

/**
 * Commands that a job remembers, so that a repeated one does nothing. A sender that does not know whether its command arrived sends it
 * again, and a log may hold it twice. The first one counts, also if it was refused or had no effect: a repeated RESUME must not end a
 * later pause.
 */
export const commandsKept = 32

/** Whether the job has taken a command with this id: one of the last 32, or the command of an active run, the backfill or the last run. */
export function isRepeated({ recentCommands, active, lastRun, backfill }: JobState, commandId: string): boolean {
  return (
    recentCommands.includes(markOf(commandId)) || [...active, lastRun, backfill].some((made) => made?.commandId === commandId)
  )
}

export function remembered({ recentCommands }: JobState, commandId: string): number[] {
  return [...recentCommands, markOf(commandId)].slice(-commandsKept)
}

/** Without these commands, which their senders send again. */
export function forgotten({ recentCommands }: JobState, commandIds: readonly string[]): number[] {
  const marks = new Set(commandIds.map(markOf))
  return recentCommands.filter((mark) => !marks.has(mark))
}

/** 52 bits of an id, so that the state stays small whatever ids senders choose. The chance that one of 32 others collides is 1 in 10¹⁴. */
export function markOf(commandId: string): number {
  // The second hash has its extra character in front. Behind the text it would not help: FNV-1a continues equally after an equal hash.
  const [high, low] = [hashFraction(commandId), hashFraction(`\u0000${commandId}`)]
  return high * 2 ** 52 + Math.floor(low * 2 ** 20)
}
