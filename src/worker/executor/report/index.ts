/** An attempt, its outcome, and the reports to its owner. */
export { Attempt, type AttemptHost, cancelled, type Outcome, released, succeededWithoutResult } from './attempt.ts'
export { HandledRun } from './handled-run.ts'
export { batchOutcomes, failed, succeeded } from './outcome.ts'
export { ReportSender } from './report-sender.ts'
export { RunLogSender, type RunLogSenderOptions } from './run-log-sender.ts'
