/** The clients: one over HTTP, which does all that the API does, and one that writes definitions to Kafka. */
export type {
  AwaitedRunOf,
  Client,
  CommandOptions,
  HistoryFilter,
  HistoryRunInfo,
  JobFilter,
  JobInfo,
  JobRecord,
  JobRecords,
  KafkaClient,
  PartitionInfo,
  PoolInfo,
  Rejection,
  RunFilter,
  RunInfo,
  RunLine,
  RunLogOptions,
  RunPromise,
  Scheduled,
  ScheduledMany,
  ScheduleOptions,
  WaitOptions,
  WorkerInfo,
  WriteCondition,
  Written,
} from './client.ts'
export { createHttpClient } from './http-client.ts'
export type { Bytes, Job, Schedule, Time } from './job.ts'
export { createKafkaClient } from './kafka-client.ts'
export { PayloadChecker } from './payload-checker.ts'
export { type AwaitRun, checkedTimeoutMs, RunFailedError, runPromise } from './run-promise.ts'
export type { AnyPayloads, JobFor } from './typed-job.ts'
