/** Notes about a run that several kinds of records share. */
import type { FinishedRun } from '../../../../schemas/index.ts'
import type { Findings } from '../findings/index.ts'
import { type JobAccount, type RunAccount, runOf } from './account.ts'
import { unknown } from './run-numbers.ts'

/** Largest difference of the clocks of broker and owner that does not make a run early. */
export const brokerSkewMs = 500

export interface EntryContext {
  findings: Findings
  /** Largest number of open runs of one job. */
  runsMax: number
  /** Present time of the reader, epoch ms; later record times are cut to it. */
  nowMs: number
}

export interface Append {
  at: number
  byBroker: boolean
}

/** The account of the run that a fact is about; undefined if the job has too many open runs. */
export function opened(
  account: JobAccount,
  runNo: number,
  specOffset: number,
  scheduledFor: number,
  at: number,
  { runsMax, findings }: EntryContext,
): RunAccount | undefined {
  const run = runOf(account, runNo, specOffset, scheduledFor, runsMax)
  if (run === undefined) {
    findings.unjudged('runs')
    account.unnotedTo = Math.max(account.unnotedTo ?? 0, runNo)
  } else run.lastAt = Math.max(run.lastAt, at)
  return run
}

export function endRun(account: JobAccount, run: RunAccount, finished: FinishedRun): void {
  const { status, trigger, scheduledFor, worker, startedAt, attempts } = finished
  run.named = true
  run.status = null
  run.end = status
  run.finishedAt = finished.finishedAt
  run.attempt = attempts
  run.trigger = trigger
  // A worker gives its name. A report without a name is from the owner, which wrote the run's only record itself.
  run.delivered = status === 'SUCCEEDED' && worker === null && startedAt === finished.finishedAt
  if (run.scheduledFor === unknown) run.scheduledFor = scheduledFor
  if (trigger === 'SCHEDULE') noteFired(account, run)
}

export function noteFired({ fired }: JobAccount, { scheduledFor, runNo, specOffset }: RunAccount): void {
  const same = fired.find(([nominal, number]) => nominal === scheduledFor && number === runNo)
  if (same === undefined) fired.push([scheduledFor, runNo, specOffset])
  else if (same[2] === unknown) same[2] = specOffset
}

/** Finds a start record that was appended before the run was due: the start cannot be later than its record. */
export function earlyByBroker(
  jobId: string,
  { runNo, scheduledFor, found }: RunAccount,
  dueAt: number,
  { at, byBroker }: Append,
  { findings }: EntryContext,
): void {
  if (!byBroker || at >= dueAt - brokerSkewMs || found.includes('early')) return
  found.push('early')
  findings.find(
    'early',
    `${jobId}/${runNo}`,
    `by the broker's clock it had started ${dueAt - at} ms before it was due`,
    scheduledFor,
  )
}
