/** The clients: one over HTTP, which does all that the API does, and one that writes definitions to Kafka. */

export {
  checkedCall,
  checkedCommand,
  checkedDelete,
  checkedFilter,
  checkedId,
  checkedRunNo,
  checkedRunOf,
  checkedSchedule,
  checkedSkip,
  checkedTrigger,
  checkedWait,
  checkSignal,
} from './call-checks.ts'
export type { Client, JobRecords, KafkaClient } from './client.ts'
export { createHttpClient } from './http-client.ts'
export type {
  AnyJobFor,
  AnyPayloads,
  Backoff,
  Bytes,
  Job,
  JobFor,
  JobsTo,
  JobTo,
  ResultOf,
  Schedule,
  TargetFor,
  Time,
} from './job.ts'
export { createKafkaClient } from './kafka-client.ts'
export type {
  AwaitedRunOf,
  CallOptions,
  CommandOptions,
  DueFilter,
  HistoryFilter,
  HistoryRunInfo,
  JobFilter,
  JobInfo,
  JobRecord,
  LimitInfo,
  PartitionInfo,
  PlanOptions,
  PoolInfo,
  Rejection,
  RejectionOptions,
  RunFilter,
  RunInfo,
  RunLine,
  RunLogOptions,
  Scheduled,
  ScheduledMany,
  ScheduleOptions,
  WaitOptions,
  WorkerInfo,
  WriteCondition,
  Written,
} from './options.ts'
export { PayloadChecker } from './payload-checker.ts'
export { type AwaitRun, RunFailedError, type RunPromise, runPromise } from './run-promise.ts'
