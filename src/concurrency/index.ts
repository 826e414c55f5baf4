/** Bounded waiting: queues, slots, locks, time limits and idle time, each independent of what is done. */
export { FairSlots } from './fair-slots.ts'
export { type IdleTime, idleTime } from './idle-time.ts'
export { commitSlots, forecastSlots, listSlots, restoreSlots, Semaphore, standbyRestoreSlots } from './semaphore.ts'
export { SharedAnswer } from './shared-answer.ts'
export { Stopwatch } from './stopwatch.ts'
export { WakeSignal } from './wake-signal.ts'
export { withTimeout } from './with-timeout.ts'
