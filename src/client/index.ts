/** The clients: one over HTTP, which does all that the API does, and one that writes definitions to Kafka. */
export type {
  HistoryRunInfo,
  JobInfo,
  JobRecord,
  LimitInfo,
  PartitionInfo,
  PoolInfo,
  Rejection,
  RunInfo,
  RunLine,
  Scheduled,
  ScheduledMany,
  WorkerInfo,
  Written,
} from './answers.ts'
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
export type { Backoff, Bytes, Job, Schedule, Time } from './job.ts'
export { createKafkaClient } from './kafka-client.ts'
export type {
  AwaitedRunOf,
  CallOptions,
  CommandOptions,
  DueFilter,
  HistoryFilter,
  JobFilter,
  PlanOptions,
  RejectionOptions,
  RunFilter,
  RunLogOptions,
  ScheduleOptions,
  WaitOptions,
  WriteCondition,
} from './options.ts'
export { PayloadChecker } from './payload-checker.ts'
export { type AwaitRun, RunFailedError, type RunPromise, runPromise } from './run-promise.ts'
export type { AnyJobFor, AnyPayloads, JobFor, JobsTo, JobTo, ResultOf, TargetFor } from './typed-job.ts'
