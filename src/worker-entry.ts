/** What `import … from 'duelog/worker'` gives: a worker that runs jobs. It loads neither the store nor the server. */
export type { AnyPayloads } from './client/typed-job.ts'
export type { ClusterOptions } from './connect.ts'
export { DuelogError, type ErrorCode, errorTable } from './errors.ts'
export type { ExecutorView } from './executor/executor.ts'
export type {
  BatchHandler,
  BatchOutcome,
  BatchOutcomes,
  Handler,
  Handlers,
  HandlersFor,
  Progress,
  Run,
} from './executor/handler.ts'
export { NonRetryableError, RetryLaterError } from './executor/handler-errors.ts'
export { createWorker, type Worker, type WorkerOptions } from './worker.ts'
