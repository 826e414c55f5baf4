/** What `import … from 'duelog/client'` gives: a client that schedules jobs. It loads neither the store nor the server nor workers. */
export type { AnyPayloads, Bytes, Client, Job, JobFor, Rejection, ScheduledMany, Time, Written } from '../client/index.ts'
export type { ClusterOptions } from '../cluster/index.ts'
export { DuelogError, type ErrorCode, errorTable } from '../errors/index.ts'
export { createClient } from './create-client.ts'
