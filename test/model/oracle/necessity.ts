/**
 * Checks that each attempt was necessary and that each end has a cause. No attempt is lost whose worker reported in time. None
 * timed out or expired that had a durable report before. Each recorded report was really sent, about that same attempt.
 */
import type { ActiveRun, AttemptError, FinishedRun } from '../../../schemas/generated.ts'
import type { Facts } from './facts.ts'
import { type Life, type Lives, lifeName, lifeNoOf } from './lives.ts'
import { attemptName, type Report, type Reports } from './reports.ts'
import type { Change, Decided } from './transactions.ts'

/** The error of a worker's clock and the time until a record is read, together, in ms. */
const toleranceMs = 100
/** How long the owner waits for a worker's own report of a timeout, in ms. */
const timeoutGraceMs = 5_000
/** How long the log keeps reports (docs/TOPICS.md), in ms. A report that was not read by then is never read. */
const keptMs = 7 * 86_400_000

interface Judged {
  name: string
  life: Life
  /** The attempt as it was before the transaction. */
  run: ActiveRun
  reports: Report[]
}

export function necessityProblems(lives: Lives, transactions: Decided[], reports: Reports, facts: Facts): string[] {
  const problems: string[] = []
  for (const decided of transactions) {
    for (const change of decided.changes) {
      const { jobId, before, after, ended } = change
      const lifeNo = lifeNoOf(lives.get(jobId), before?.specOffset ?? -1)
      const life = lives.get(jobId)?.[lifeNo]
      // The changelog does not show the end of runs whose life ended in the same transaction.
      if (
        before === undefined ||
        after === undefined ||
        life === undefined ||
        lifeNoOf(lives.get(jobId), after.specOffset) !== lifeNo
      )
        continue
      for (const run of before.active) {
        // A report of the forwarder before an attempt is not a report of its worker.
        const of = (reports.get(attemptName({ jobId, ...run })) ?? []).filter(({ type }) => type !== 'RETRY_DUE')
        const name = `${lifeName(jobId, lifeNo)}/${run.runNo}/${run.attempt}`
        judge({ name, life, run, reports: of }, outcomeOf(run, change, ended), decided, facts, problems)
      }
    }
  }
  return problems
}

interface Outcome {
  error: AttemptError | undefined
  end: FinishedRun | undefined
}

/** The effect of the transaction on an attempt. */
function outcomeOf(run: ActiveRun, { after }: Change, ended: FinishedRun[]): Outcome {
  const end = [...(after?.lastRun ? [after.lastRun] : []), ...ended].find(({ runNo }) => runNo === run.runNo)
  const still = after?.active.find(({ runNo }) => runNo === run.runNo)
  const errors = end?.errors ?? still?.errors ?? []
  return { end, error: errors.find(({ attempt }) => attempt === run.attempt) }
}

function judge(judged: Judged, { error, end }: Outcome, decided: Decided, facts: Facts, problems: string[]): void {
  const { name, life, run } = judged
  const seen = judged.reports.filter(({ order }) => order < decided.order)
  const known = (type: Report['type']): boolean => seen.some((report) => report.type === type)
  const isRecord = life.definitions.some(({ spec }) => spec?.target.topic)
  const sameAttempt = end !== undefined && end.attempts === run.attempt
  if (end?.status === 'SUCCEEDED' && sameAttempt && !isRecord && !known('SUCCEEDED'))
    problems.push(`${name} ended as SUCCEEDED, and no worker had reported that of it`)
  // An owner whose topic is missing reports that itself.
  const isOurs = isRecord && error?.type === 'TopicUnavailable'
  const byOwner = error?.type === 'LeaseLost' || (error?.type === 'AttemptTimeout' && !known('FAILED'))
  if (error !== undefined && !byOwner && !isOurs && !known('FAILED'))
    problems.push(`${name} failed with ${error.type}, which nobody reported`)
  // With a wrong clock it is unknown when something fell due. A lost report was not read.
  if (!facts.necessity || facts.aheadMs + facts.behindMs > 0 || !facts.whole) return
  const reports = judged.reports.filter(({ isGone, appendedAt }) => !isGone || decided.at - appendedAt < keptMs)
  if (error?.type === 'LeaseLost' && !wasSilent(run, reports, error.at))
    problems.push(`${name} lost its lease of ${run.leaseMs} ms at ${error.at}, and its worker reported in time: ${told(reports)}`)
  const final = (type: Report['type']): boolean => type === 'SUCCEEDED' || type === 'FAILED' || type === 'RELEASED'
  const first = reports.find(({ type }) => final(type))
  if (error?.type === 'AttemptTimeout' && byOwner && first !== undefined) {
    const dueAt = (run.startedAt ?? reports[0]?.at ?? 0) + run.attemptTimeoutMs + timeoutGraceMs
    if (first.at < dueAt - toleranceMs)
      problems.push(`${name} timed out at ${error.at}, and had ended before ${dueAt}: ${told(reports)}`)
  }
  // A heartbeat before a start is not a start.
  const heard = reports.find(({ type }) => type !== 'HEARTBEAT')
  if (end?.status === 'EXPIRED' && sameAttempt && run.status === 'DISPATCHED' && heard !== undefined) {
    if (heard.at < run.startDeadlineAt - toleranceMs)
      problems.push(`${name} expired at ${end.finishedAt}, and a report came before ${run.startDeadlineAt}: ${told(reports)}`)
  }
}

/** Whether there was a period of one lease, up to the decision, in which no report of the attempt became durable. */
function wasSilent({ leaseMs }: ActiveRun, reports: Report[], decidedAt: number): boolean {
  const times = reports.filter(({ at }) => at <= decidedAt).map(({ at }) => at)
  return [...times.slice(1), decidedAt].some((at, index) => at - (times[index] ?? at) >= leaseMs - toleranceMs)
}

const told = (reports: Report[]): string => reports.map(({ type, at }) => `${type} ${at}`).join(', ')
