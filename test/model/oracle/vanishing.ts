/**
 * Checks that each life of a job ends with a reason: a job that disappears was deleted by a user, or was over and past its
 * retention, and its runs with it.
 */
import type { ActiveRun } from '../../../schemas/generated.ts'
import type { MemoryLog } from '../../tools/memory-log.ts'
import type { Facts } from './facts.ts'
import { type Life, type Lives, lifeName, lifeNoOf } from './lives.ts'
import { read, readable, shown, topics } from './reading.ts'
import { type AttemptName, attemptName, reportsOf } from './reports.ts'
import type { Change, Decided } from './transactions.ts'

export function vanishingProblems(log: MemoryLog, lives: Lives, transactions: Decided[], facts: Facts): string[] {
  const problems: string[] = []
  const cancelled = new Set<string>()
  const reports = reportsOf(log)
  for (const { record } of shown(log, topics.control)) {
    const said = readable(read.control, record?.value)
    if (said?.type === 'CANCEL') cancelled.add(runOf({ ...said, specOffset: said.specOffset ?? -1 }))
  }
  for (const { changes, position, order, at } of transactions) {
    for (const change of changes) {
      const { jobId, before, after } = change
      if (before === undefined) continue
      const of = lives.get(jobId) ?? []
      const lifeNo = lifeNoOf(of, before.specOffset)
      if (lifeNo < 0 || (after !== undefined && lifeNoOf(of, after.specOffset) === lifeNo)) continue
      checkEnd(lifeName(jobId, lifeNo), of[lifeNo] as Life, change, position?.jobsOffset ?? 0, facts, problems)
      for (const run of before.active) {
        // The same transaction may have taken its end, or its time may have passed.
        const heard = (reports.get(attemptName({ jobId, ...run })) ?? []).filter((report) => report.order < order)
        const over = heard.some(({ type }) => type !== 'STARTED' && type !== 'HEARTBEAT') || run.startDeadlineAt <= at
        if (!over) checkRun(jobId, lifeName(jobId, lifeNo), run, cancelled, facts, problems)
      }
    }
  }
  return problems
}

const runOf = ({ jobId, specOffset, runNo }: Omit<AttemptName, 'attempt'>): string => `${jobId} ${specOffset} ${runNo}`

function checkEnd(
  name: string,
  { endedBy }: Life,
  { before }: Change,
  jobsOffset: number,
  facts: Facts,
  problems: string[],
): void {
  if (endedBy === undefined || endedBy.offset >= jobsOffset) {
    problems.push(`${name} is missing from the changelog and was not deleted`)
    return
  }
  if (endedBy.byUser || before === undefined || !facts.revivalsStay) return
  if (before.status !== 'COMPLETED' || before.active.length > 0)
    problems.push(`${name} was taken away as over while it was ${before.status} with ${before.active.length} active runs`)
}

/** The worker that may run it gets a cancellation. */
function checkRun(jobId: string, life: string, run: ActiveRun, cancelled: Set<string>, facts: Facts, problems: string[]): void {
  if (!facts.deletionsTellWorkers || (run.status !== 'RUNNING' && run.status !== 'DISPATCHED')) return
  if (!cancelled.has(runOf({ jobId, ...run })))
    problems.push(`${life}/${run.runNo}/${run.attempt} was ${run.status} when its job was deleted, and no worker was notified`)
}
