/** Checks that a partition fires on time, within the precision of this simulation, when all faults concern single jobs. */
import type { Execution } from '../../../schemas/generated.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import { dispatchesOf } from './dispatches.ts'
import type { Facts } from './facts.ts'
import type { Ledger } from './ledger.ts'
import { hasLimit, type Life, type Lives, lifeNoOf } from './lives.ts'

/**
 * How long after the last fault a partition may fire late, in ms: until the group has noticed the death of a member, open
 * transactions have ended, a clock is trusted again and the backlog is done.
 */
const settledMs = 30_000
/** The lateness that is allowed then, in ms: a lead, and the time that a record takes through the log. */
const latenessMsMax = 100

export function latenessProblems(log: MemoryLog, lives: Lives, ledger: Ledger, { calms }: Facts): string[] {
  return dispatchesOf(log).flatMap(({ execution, at }) => {
    const { jobId, specOffset, runNo, attempt, trigger, dueAt } = execution
    const isJudged = attempt === 1 && trigger === 'SCHEDULE' && !waitsForOthers(lives.get(jobId), specOffset)
    const isCalm = calms.some(({ fromMs, toMs }) => dueAt >= fromMs + settledMs && dueAt < toMs)
    if (!isJudged || !isCalm || at <= dueAt + latenessMsMax) return []
    if (at <= roomAt(lives.get(jobId) ?? [], ledger, execution) + latenessMsMax) return []
    return [`${jobId}/${runNo} of ${specOffset} was due at ${dueAt} and dispatched ${at - dueAt} ms late`]
  })
}

/** When the last of the earlier runs ended, if there were as many as its definition allows beside it. */
function roomAt(lives: readonly Life[], { runs }: Ledger, { jobId, specOffset, runNo, dueAt }: Execution): number {
  const lifeNo = lifeNoOf(lives, specOffset)
  const spec = lives[lifeNo]?.definitions.find(({ offset }) => offset === specOffset)?.spec
  const most = spec?.overlap === 'ALLOW' ? spec.maxConcurrentRuns : 1
  const ends = [...runs.values()]
    .filter((run) => run.jobId === jobId && run.lifeNo === lifeNo && run.runNo < runNo)
    .map(({ end }) => end?.finishedAt ?? Number.POSITIVE_INFINITY)
    .filter((endedAt) => endedAt > dueAt)
  return ends.length < most ? dueAt : Math.max(...ends)
}

/** It waits for a slot, for a start, or for the run before it. Runs of a backfill or a redrive may be before any (roomAt). */
function waitsForOthers(lives: readonly Life[] = [], specOffset: number): boolean {
  const life = lives.find(({ definitions }) => definitions.some(({ offset }) => offset === specOffset))
  return life === undefined || hasLimit(life) || life.definitions.some(({ spec }) => spec?.overlap === 'QUEUE_ONE')
}
