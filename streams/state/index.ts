/** The data of jobs, of their runs and of the limits that jobs share, with the keys under which a store holds them. */

export {
  holds,
  namesOffset,
  type OnlyOver,
  observedDeleteAtHeader,
  observedOffsetHeader,
  onlyOverHeaders,
  onlyOverOf,
} from './condition.ts'
export { isCurrentReport } from './current-report.ts'
export { draftOf, patchRun, patchState, pristineState, runErrorsMax, timesHash } from './draft.ts'
export {
  type AttemptId,
  type Context,
  type Decision,
  type Input,
  type Job,
  type KnownDefinition,
  type Limits,
  mustBeLogged,
  type Note,
  type PoolPause,
  type Route,
  type SkipReason,
  type TopicRecord,
  type WaitingReason,
} from './job.ts'
export {
  definitionIndexKeys,
  type IndexKind,
  indexKeysOf,
  indexKind,
  indexRange,
  isIndexedStatus,
  jobIdOfIndexKey,
  mayChangeIndex,
  stateIndexKeys,
} from './job-index.ts'
export {
  definitionKey,
  definitionValue,
  emptyValue,
  followUpsKey,
  isRetainedDefinition,
  jobIdOfKey,
  keyAfter,
  limitKeyOf,
  metaKey,
  movedKey,
  ownerKey,
  positionKey,
  prefix,
  rangeOf,
  restoringKey,
  retainedDefinitionKey,
  runHistorySize,
  runKey,
  type StoredDefinition,
  slotsKey,
  snapshotKey,
  startsKey,
  stateKey,
  storedDefinition,
  type Timer,
  type TimerKind,
  timerBound,
  timerKey,
  timerKind,
  timerOfKey,
  type Waiter,
  waiterKey,
  waiterOfKey,
  waitersOfRank,
  waitersRange,
} from './keys.ts'
export { addLimitKeys, type LimitKeys } from './limit-keys.ts'
export { forgotten, isRepeated, markOf, remembered } from './recent-commands.ts'
export { refuse, refuseCommand, skip } from './refusals.ts'
export { executionIdOf, lifeOf, runNameOf } from './run-identity.ts'
export { holdsSlot, isSameWaiter, type SlotUse, slotKeysOf, slotLimitOf, slotUse, waiterOf, waitersOf } from './slots.ts'
export {
  isOutdated,
  type RateUse,
  rateOf,
  rateUse,
  reserveStart,
  type Starts,
  StartTimes,
  startsEntry,
  startsOf,
} from './starts.ts'
export { fittedState } from './state-size.ts'
export {
  attemptTimeoutGraceMs,
  expiresAt,
  retryTimerAt,
  stateTimers,
  timersOf,
  waitsForHandler,
  waitsForPool,
  waitsForTopic,
  waitsForWorker,
} from './timers.ts'
