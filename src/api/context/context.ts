/** What the routes share: all that the API was given, and its writes. */
import type { FairSlots } from '../../concurrency/index.ts'
import type { AuditLog } from '../audit-trail/index.ts'
import type { ComputeQueue, JobWrites } from '../jobs/index.ts'
import type { ApiOptions } from './options.ts'

export interface ApiContext extends ApiOptions {
  writes: JobWrites
  audit: AuditLog
  /** For whoever looks. */
  computeQueue: ComputeQueue
  /** Of definitions that are to be written: they do not wait for those who look. */
  checks: ComputeQueue
  /** Of lists of jobs, each of which holds megabytes while it is made. */
  lists: FairSlots
}
