/** The life of a run: fire, wait for limits, dispatch, attempts, retries, end. */
export { applyEvent, applyRunTimer } from './attempt.ts'
export { attemptErrorOf } from './attempt-errors.ts'
export { type BackfillCount, backfillRunsMax, beginBackfill, countBackfill, goOnWithBackfill } from './backfill.ts'
export { causeHeader, type RunCause, runCauseOf } from './cause.ts'
export { chainDepthMax, chainRunsMax } from './chain.ts'
export { completeIfDone, isOver } from './completion.ts'
export { deadRunsBy } from './dead-runs.ts'
export { endRunsOfStep } from './deliver.ts'
export { bareExecution, executionOf, httpHandlerName, leadMsLimit } from './dispatch.ts'
export { endedRunOf } from './ended-run.ts'
export { executionProblem, sizeProblem } from './execution-problem.ts'
export { cancelRun, endWithJob } from './finish.ts'
export { fire } from './fire.ts'
export {
  dropFollowUps,
  dropPages,
  followUp,
  followUpPageBytesMax,
  queueOf,
  startFollowUps,
  startTriggered,
  watchFollowUps,
} from './follow-ups.ts'
export { admit, beginAttempt } from './gate.ts'
export { redeliverMsMax } from './redelivery.ts'
export { fittedReport } from './report.ts'
export { runInputOf } from './run-input.ts'
export { skipNext } from './skip-next.ts'
export { dropDeadSnapshot, dropSnapshot, hasOwnInput, keepSnapshot, snapshotNoIn, snapshotNosOf } from './snapshots.ts'
export { startQueued, startRun } from './start.ts'
export { startedAttempts, startedAttemptsOf } from './started-attempts.ts'
export { recordHeaders, topicRecord } from './topic-record.ts'
export { waitCheckMsMax, waitChecksOf } from './wait-checks.ts'
export { lookAtZone, mayMove, type NextFire, zoneMoveOf, zoneSkipsCountedMax } from './zone-change.ts'
