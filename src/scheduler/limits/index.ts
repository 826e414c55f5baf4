/** Limits that jobs share: counters, and who of those that wait is admitted next. */
export { AdmissionQueue } from './admission-queue.ts'
export { LimitCounters } from './limit-counters.ts'
