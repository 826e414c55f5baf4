/** The client: definitions as users write them, checked, and written to `jobs`. */
export { type Client, createJobClient, type Rejection, type ScheduledMany, type Written } from './client.ts'
export type { Bytes, Job, Time } from './job.ts'
export type { AnyPayloads, JobFor } from './typed-job.ts'
