/** Bounded waiting: queues, slots, locks, time limits and idle time, each independent of what is done. */
export { LookPlaces } from './fair-slots.ts'
export { type SpareTime, spareTime } from './idle-time.ts'
export { commitSlots, forecastSlots, listSlots, restoreSlots, Slots, standbyRestoreSlots } from './semaphore.ts'
export { SharedAnswer } from './shared-answer.ts'
export { Laps } from './stopwatch.ts'
export { Signal } from './wake-signal.ts'
export { within } from './with-timeout.ts'
