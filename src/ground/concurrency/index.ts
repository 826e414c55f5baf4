/** Bounded queues, maps and waits: slots, slices, turns, time limits, idle time, and topics that are read to their end. None depends on the work that uses it. */
export { BoundedMap, Fifo, slices } from './collections.ts'
export { FollowedTopic, LazyWriter, type PartitionEnd, ReadPositions } from './followed-topic.ts'
export { type IdleTime, idleTime, LoopTurns } from './idle-time.ts'
export {
  commitSlots,
  FairSlots,
  forecastSlots,
  listSlots,
  restoreSlots,
  Semaphore,
  slotWaitMs,
  standbyRestoreSlots,
} from './semaphore.ts'
export { RejoinTimer, SharedAnswer, Stopwatch, WakeSignal, withTimeout } from './waits.ts'
