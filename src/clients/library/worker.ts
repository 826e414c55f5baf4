/** What `import … from 'duelog/worker'` gives: a worker that runs jobs. It loads neither the store nor the server. */

export { DuelogError, type ErrorCode, errorTable } from '../../ground/errors/index.ts'
export type { PayloadInput, PayloadOutput, PayloadSchema, PayloadsOf } from '../../ground/records/index.ts'
export type { ClusterOptions } from '../../log/cluster/index.ts'
export type {
  AnyHandler,
  BatchHandler,
  BatchOutcome,
  BatchOutcomes,
  ExecutorView,
  Handler,
  Handlers,
  HandlersFor,
  Hook,
  Progress,
  ResultsOf,
  Run,
  RunLogFields,
  RunLogLevel,
  SchemaHandler,
} from '../../worker/executor/index.ts'
export { NonRetryableError, RetryLaterError, withSchema } from '../../worker/executor/index.ts'
export type { AnyPayloads } from '../client/index.ts'
export { createWorker, type Worker, type WorkerOptions } from './create-worker.ts'
