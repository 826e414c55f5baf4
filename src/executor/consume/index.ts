/** From the log to runs that this worker holds, and how far each partition is done. */
export { attemptKey, type Cancellation, Cancellations, isMeant } from './cancellations.ts'
export { ControlConsumer } from './control-consumer.ts'
export { ExecutionConsumer } from './execution-consumer.ts'
export type { Entry } from './lane.ts'
export { isMisdated } from './misdated-executions.ts'
export { OffsetCommitter } from './offset-committer.ts'
export { PinnedRuns } from './pinned-runs.ts'
