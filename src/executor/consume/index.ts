/** From the log to the runs that this worker holds, and the committed position of each partition. */
export { attemptKey, type Cancellation, Cancellations, isMeant } from './cancellations.ts'
export { ControlConsumer } from './control-consumer.ts'
export { ExecutionConsumer } from './execution-consumer.ts'
export type { Entry, Lane } from './lane.ts'
export { isMisdated } from './misdated-executions.ts'
export { OffsetCommitter } from './offset-committer.ts'
export { lookForOrphans } from './orphaned-lanes.ts'
export { PinnedRuns } from './pinned-runs.ts'
