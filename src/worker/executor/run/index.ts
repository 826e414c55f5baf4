/** Runs handlers: due times, slots, batches, timeouts, heartbeats. */
export { HandBack, lastReportsMsMax, PoolPauseWatch } from './hand-back.ts'
export { Runner } from './runner.ts'
export { TimerQueue } from './timer-queue.ts'
