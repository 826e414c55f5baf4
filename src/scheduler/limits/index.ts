/** Limits that jobs share: counters, and who of those that wait is admitted next. */
export { Admissions } from './admission-queue.ts'
export { addLimitKeys, KeyLedger, type LimitKeys } from './limit-counters.ts'
