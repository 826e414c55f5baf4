/** Limits that jobs share: counters, and who of those that wait is admitted next. */
export { AdmissionQueue } from './admission-queue.ts'
export { addLimitKeys, LimitCounters, type LimitKeys } from './limit-counters.ts'
