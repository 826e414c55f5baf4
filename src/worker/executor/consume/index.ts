/** From the log to the runs that this worker holds, and the committed position of each partition. */
export { attemptKey, type Cancellation, Cancellations, isMeant } from './cancellations.ts'
export { ControlConsumer } from './control-consumer.ts'
export { ExecutionConsumer } from './execution-consumer.ts'
export { type Entry, isMisdated, type Lane } from './lane.ts'
export { lookForOrphans, OffsetCommitter } from './offset-committer.ts'
export { PinnedRuns } from './pinned-runs.ts'
