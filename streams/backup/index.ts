/** Backup and restore of jobs: what belongs to a copy, and how it continues in other logs with any number of partitions. */
export {
  type CapturedJob,
  capturedJob,
  effective,
  followUpOf,
  isOfCopy,
  type JobsRecord,
  type LoggedJob,
  type SourceJob,
} from './captured-job.ts'
export {
  type BackedUpJob,
  firstOffset,
  type KeyUse,
  mergedStarts,
  type RestoredJob,
  restoredHeaders,
  restoredJob,
} from './restored-job.ts'
