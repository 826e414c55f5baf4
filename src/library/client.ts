/** What `import … from 'duelog/client'` gives: a client of the whole API. It loads neither the store nor the server nor workers. */
export type {
  AnyPayloads,
  AwaitedRunOf,
  Bytes,
  Client,
  CommandOptions,
  DueFilter,
  HistoryFilter,
  HistoryRunInfo,
  Job,
  JobFilter,
  JobFor,
  JobInfo,
  JobRecord,
  JobRecords,
  KafkaClient,
  LimitInfo,
  PartitionInfo,
  PoolInfo,
  Rejection,
  RunFilter,
  RunInfo,
  RunLine,
  RunLogOptions,
  RunPromise,
  Schedule,
  Scheduled,
  ScheduledMany,
  ScheduleOptions,
  Time,
  WaitOptions,
  WorkerInfo,
  WriteCondition,
  Written,
} from '../client/index.ts'
export { RunFailedError } from '../client/index.ts'
export type { ClusterOptions } from '../cluster/index.ts'
export { DuelogError, type ErrorCode, errorTable } from '../errors/index.ts'
export type { PayloadInput, PayloadSchema, PayloadsOf } from '../ports/index.ts'
export { createClient, type HttpOptions, type PayloadOptions } from './create-client.ts'
