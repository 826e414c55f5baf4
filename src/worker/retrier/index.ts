/** The retry forwarder: reports retries that have waited in a delay topic long enough. */
export { Retrier } from './retrier.ts'
