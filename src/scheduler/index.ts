/** The scheduler of a process: owns partitions and fires what is due. */
export { Scheduler } from './scheduler.ts'
