/** Ports: what the rooms need of the log, the store, the owners and the auditors. src/kafka and src/store implement them. */
export {
  type Announced,
  type AnnouncedAction,
  type AnnounceQuery,
  announcedActions,
  type BulkAction,
  bulkActions,
  type ChangeQuery,
  type ChangeRefusal,
  type Changes,
  type CutOff,
  commandIdOf,
  commandPrefixOf,
  isImmediate,
  jobActions,
  type OperationAction,
  partialActions,
  runActions,
  type Target,
  type TargetQuery,
  type Targets,
  triggerWithPayload,
} from './change-targets.ts'
export {
  addKind,
  byDeath,
  type DeadPlace,
  type DeadRun,
  type DeadRuns,
  type DeadRunsQuery,
  type ErrorKindCount,
} from './dead-runs.ts'
export { keptBytes, knownDefinition } from './definition-decoder.ts'
export { decodeExecution } from './execution-decoder.ts'
export type { Health } from './health.ts'
export type { HandlerFigures, HistoryCounts, HistoryFilter, HistoryPage, HistoryQueries, TimeFigures } from './history.ts'
export type {
  Batch,
  Codec,
  CommittedOffset,
  FenceOptions,
  GroupMember,
  GroupPositions,
  GroupReader,
  GroupReaderOptions,
  Log,
  LogAdmin,
  LogWriter,
  OffsetRange,
  Position,
  RecordIn,
  RecordOut,
  TopicPartition,
  TransactionalWriter,
} from './log.ts'
export { hasEnded, type Operation, type Operations } from './operations.ts'
export {
  type ActiveRunView,
  type Asker,
  type AwaitedRun,
  activeRunView,
  type Heartbeat,
  type JobQueries,
  type JobView,
  type ListedJobs,
  type PartitionQueries,
  type RunEnd,
  sizeOfView,
  type WhyView,
} from './owner-queries.ts'
export {
  type DueCounts,
  type DueFilter,
  type DueJob,
  type DueJobs,
  type DueRange,
  inRarity,
  type JobFilter,
  type LimitUse,
  type OpenTransaction,
  ownerProblem,
  type PartitionView,
  type PoolRuns,
  type PositionReset,
  type RunsUnderWay,
  type StandingCounts,
  type StartLateness,
  type StoredJob,
  type WorkerRuns,
} from './owner-views.ts'
export { type KnownPause, type PauseControl, type PauseMode, type Pauses, pauseModes } from './pauses.ts'
export {
  type CheckedPayload,
  checkPayload,
  isPayloadSchema,
  type PayloadInput,
  type PayloadOutput,
  type PayloadSchema,
  type PayloadsOf,
} from './payload-schema.ts'
export {
  GroupNotKept,
  handlersOf,
  type PoolNeed,
  type ProcessesNote,
  processesNoteOf,
  slotsOf,
  versionOf,
} from './pool-members.ts'
export {
  type Acknowledgement,
  type FaultChoice,
  type FoundFault,
  faultIdOf,
  type PartitionProof,
  type ProofQueries,
} from './proof.ts'
export type { RangeReader } from './ranges.ts'
export { activeRunToJson, executionToJson, finishedRunToJson, jobEtag, jobToFields, resultToJson, runIdOf } from './run-json.ts'
export type { PartitionStore, PartitionStores, ScanOptions, StoreEntry, StoreOp, StoreReader } from './store.ts'
export type { ListQuery, StoreSearch, StoreSearches } from './store-searches.ts'
export { closedText, isClosed, restartsOf, type TakenRuns, takenKeptMs, takenOf, takenText } from './taken-runs.ts'
export type { TargetTopics } from './target-topics.ts'
