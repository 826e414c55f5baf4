/** What kafkajs throws as errors of our table, and which of them are tried again. */
export { faultOf } from './kafka-errors.ts'
export { withRetry } from './retry.ts'
