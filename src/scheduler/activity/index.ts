/** What an owner has heard of running attempts. Soft state: it is not logged. */
export { idsOfRunTimers, UnderWay } from './active-runs.ts'
export { Leases } from './leases.ts'
export { WorkerWatch } from './worker-activity.ts'
