/** The retry forwarder: reports what a delay topic has held for long enough. */
export { createRetrier, type Retrier } from './retrier.ts'
