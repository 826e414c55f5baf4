/** From the log to runs that this worker holds, and how far each partition is done. */
export { attemptKey, type Cancellation, Cancels, isMeant } from './cancellations.ts'
export { Control } from './control-consumer.ts'
export { Intake } from './execution-consumer.ts'
export type { Entry } from './lane.ts'
export { isAstray } from './misdated-executions.ts'
export { Committer } from './offset-committer.ts'
export { Pinned } from './pinned-runs.ts'
