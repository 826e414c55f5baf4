/** The life of a run: fire, wait for limits, dispatch, attempts, retries, end. */
export { applyEvent, applyRunTimer } from './attempt.ts'
export { type BackfillCount, backfillRunsMax, beginBackfill, countBackfill, goOnWithBackfill } from './backfill.ts'
export { chainDepthMax, chainRunsMax } from './chain.ts'
export { endRunsOfStep } from './deliver.ts'
export { bareExecution, executionOf, executionProblem, leadMsLimit, noTarget, runInputOf, sizeProblem } from './dispatch.ts'
export { deadRunsBy, endedRunOf, startedAttempts, startedAttemptsOf } from './ended-run.ts'
export { cancelRun, endWithJob } from './finish.ts'
export { fire, skipNext } from './fire.ts'
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
export { attemptErrorOf } from './retries.ts'
export { dropDeadSnapshot, dropSnapshot, hasOwnInput, keepSnapshot, snapshotNoIn, snapshotNosOf } from './snapshots.ts'
export { completeIfDone, isOver, startQueued, startRun } from './start.ts'
export { causeHeader, type RunCause, recordHeaders, runCauseOf, topicRecord } from './topic-record.ts'
export { waitCheckMsMax, waitChecksOf } from './wait-checks.ts'
export { lookAtZone, mayMove, type NextFire, zoneMoveOf, zoneSkipsCountedMax } from './zone-change.ts'
