/** Errors of kafkajs as errors of our table, and which of them are retried. */
export { faultOf, isUnexplained, rootTypeOf } from './kafka-errors.ts'
export { retryWhile, withRetry } from './retry.ts'
