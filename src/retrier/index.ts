/** The retry forwarder: reports retries that have waited in a delay topic long enough. */
export { createRetrier, type Retrier } from './retrier.ts'
