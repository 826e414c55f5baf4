/** Whether no life of a job ends without an end: who disappears was deleted by a user, or was over and past its retention; and its runs with it. */
import type { ActiveRun } from '../../../schemas/generated.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import type { Facts } from './facts.ts'
import { type Life, type Lives, lifeName, lifeNoOf } from './lives.ts'
import { read, readable, shown, topics } from './reading.ts'
import { attemptName } from './reports.ts'
import type { Change, Decided } from './transactions.ts'

export function vanishingProblems(log: MemoryLog, lives: Lives, transactions: Decided[], facts: Facts): string[] {
  const problems: string[] = []
  const cancelled = new Set<string>()
  for (const { record } of shown(log, topics.control)) {
    const said = readable(read.control, record?.value)
    if (said?.type === 'CANCEL') cancelled.add(attemptName({ ...said, specOffset: said.specOffset ?? -1 }))
  }
  for (const { changes, position } of transactions) {
    for (const change of changes) {
      const { jobId, before, after } = change
      if (before === undefined) continue
      const of = lives.get(jobId) ?? []
      const lifeNo = lifeNoOf(of, before.specOffset)
      if (lifeNo < 0 || (after !== undefined && lifeNoOf(of, after.specOffset) === lifeNo)) continue
      checkEnd(lifeName(jobId, lifeNo), of[lifeNo] as Life, change, position?.jobsOffset ?? 0, facts, problems)
      for (const run of before.active) checkRun(jobId, lifeName(jobId, lifeNo), run, cancelled, facts, problems)
    }
  }
  return problems
}

function checkEnd(
  name: string,
  { endedBy }: Life,
  { before }: Change,
  jobsOffset: number,
  facts: Facts,
  problems: string[],
): void {
  if (endedBy === undefined || endedBy.offset >= jobsOffset) {
    problems.push(`${name} is gone from the changelog and was not deleted`)
    return
  }
  if (endedBy.byUser || before === undefined || !facts.revivalsStay) return
  if (before.status !== 'COMPLETED' || before.active.length > 0)
    problems.push(`${name} was taken away as over while it was ${before.status} with ${before.active.length} active runs`)
}

/** Whoever may be at work on it is told. */
function checkRun(jobId: string, life: string, run: ActiveRun, cancelled: Set<string>, facts: Facts, problems: string[]): void {
  if (!facts.deletionsTellWorkers || (run.status !== 'RUNNING' && run.status !== 'DISPATCHED')) return
  if (!cancelled.has(attemptName({ jobId, ...run })))
    problems.push(`${life}/${run.runNo}/${run.attempt} was ${run.status} when its job was deleted, and no worker was told`)
}
