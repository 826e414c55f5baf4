/** What workers have reported about running attempts. Soft state: it is not logged. */
export { type ActiveRuns, idsOfRunTimers, poolOf } from './active-runs.ts'
export { Activity, type JobWait, KeptActivity, type Leases, type WorkerWatch } from './activity.ts'
export type { StandingJobs } from './standing-jobs.ts'
