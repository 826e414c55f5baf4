/** What `import … from 'duelog'` gives: a client that schedules jobs and a worker that runs them. */
export type { Client, Rejection, ScheduledMany, Written } from './client/client.ts'
export type { Job, Time } from './client/job.ts'
export { type ClusterOptions, createClient } from './connect.ts'
export { DuelogError, type ErrorCode, errorTable } from './errors.ts'
export type { ExecutorView } from './executor/executor.ts'
export type { BatchHandler, BatchOutcome, BatchOutcomes, Handler, Handlers, Progress, Run } from './executor/handler.ts'
export { NonRetryableError, RetryLaterError } from './executor/handler-errors.ts'
export { createWorker, type Worker, type WorkerOptions } from './worker.ts'
