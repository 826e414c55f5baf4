/** Errors of kafkajs as errors of our table, and which of them are retried. */
export { faultOf } from './kafka-errors.ts'
export { withRetry } from './retry.ts'
