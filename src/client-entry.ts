/** What `import … from 'duelog/client'` gives: a client that schedules jobs. It loads neither the store nor the server nor workers. */
export type { Client, Rejection, ScheduledMany, Written } from './client/client.ts'
export type { Bytes, Job, Time } from './client/job.ts'
export type { AnyPayloads, JobFor } from './client/typed-job.ts'
export type { ClusterOptions } from './connect.ts'
export { createClient } from './create-client.ts'
export { DuelogError, type ErrorCode, errorTable } from './errors.ts'
