/** What the routes share: the options of the API, and its writes. */
import type { FairSlots } from '../../concurrency/index.ts'
import type { AuditLog } from '../audit-trail/index.ts'
import type { ComputeQueue, JobWrites } from '../jobs/index.ts'
import type { ApiOptions } from './options.ts'

export interface ApiContext extends ApiOptions {
  writes: JobWrites
  audit: AuditLog
  /** For previews and plans. */
  computeQueue: ComputeQueue
  /** For definitions that will be written: they do not wait for previews. */
  checks: ComputeQueue
  /** For lists of jobs, each of which needs megabytes while it is built. */
  lists: FairSlots
}
