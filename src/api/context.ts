/** What the routes share: all that the API was given, and its writes. */
import type { LookPlaces } from '../look-places.ts'
import type { AuditLog } from './audit/audit-log.ts'
import type { Calculations } from './calculations.ts'
import type { JobWrites } from './job-writes.ts'
import type { ApiOptions } from './options.ts'

export interface ApiContext extends ApiOptions {
  writes: JobWrites
  audit: AuditLog
  /** For whoever looks. */
  calculations: Calculations
  /** Of definitions that are to be written: they do not wait for those who look. */
  checks: Calculations
  /** Of lists of jobs, each of which holds megabytes while it is made. */
  lists: LookPlaces
}
