/** Ports: what the rooms need of the log, the store, the owners and the auditors. src/kafka and src/store implement them. */
export { decodeExecution } from './execution-decoder.ts'
export type {
  ActiveRunView,
  Asker,
  Batch,
  Codec,
  FenceOptions,
  GroupPositions,
  GroupReader,
  GroupReaderOptions,
  Heartbeat,
  JobQueries,
  JobView,
  ListedJobs,
  Log,
  LogWriter,
  PartitionQueries,
  Position,
  RecordIn,
  RecordOut,
  TransactionalWriter,
  WhyView,
} from './log.ts'
export type { LogAdmin, TopicPartition } from './log-admin.ts'
export {
  type DueCounts,
  type DueRange,
  type JobFilter,
  type OpenTransaction,
  ownerProblem,
  type PartitionView,
  type PositionReset,
  type RunsUnderWay,
  type StoredJob,
  type WorkerRuns,
} from './owner-views.ts'
export type { FoundFault, PartitionProof, ProofQueries } from './proof.ts'
export type { PartitionStore, PartitionStores, ScanOptions, StoreEntry, StoreOp } from './store.ts'
export type { TargetTopics } from './target-topics.ts'
export { sizeOfView } from './view-size.ts'
