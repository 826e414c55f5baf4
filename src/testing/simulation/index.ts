/** A cluster in memory: log, groups, disks and clocks that a simulator moves step by step. test/model drives the same parts. */
export { Chance } from './chance.ts'
export type { Group } from './group.ts'
export { Io, Machine } from './io.ts'
export { ManualClock, VirtualTime } from './manual-clock.ts'
export { type Member, sessionMs } from './member.ts'
export { MemoryLog } from './memory-log.ts'
export { type MemoryStore, memoryStore } from './memory-store.ts'
export { type Brokers, simulatedLog } from './simulated-log.ts'
