/** What workers have reported about running attempts. Soft state: it is not logged. */
export { ActiveRuns, idsOfRunTimers, poolOf } from './active-runs.ts'
export { type JobWait, JobWaits } from './job-waits.ts'
export { Leases } from './leases.ts'
export { StandingJobs } from './standing-jobs.ts'
export { WorkerWatch } from './worker-activity.ts'
