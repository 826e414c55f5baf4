/** What `import … from 'duelog/worker'` gives: a worker that runs jobs. It loads neither the store nor the server. */
export type { AnyPayloads } from '../client/index.ts'
export type { ClusterOptions } from '../cluster/index.ts'
export { DuelogError, type ErrorCode, errorTable } from '../errors/index.ts'
export type {
  BatchHandler,
  BatchOutcome,
  BatchOutcomes,
  ExecutorView,
  Handler,
  Handlers,
  HandlersFor,
  Progress,
  Run,
} from '../executor/index.ts'
export { NonRetryableError, RetryLaterError } from '../executor/index.ts'
export { createWorker, type Worker, type WorkerOptions } from './create-worker.ts'
