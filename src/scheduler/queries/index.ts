/** Reads of a partition: jobs, lists, searches, forecasts. They change nothing. */
export { changeTargets, isChosen, wouldChange } from './change-targets.ts'
export { Forecasts } from './forecasts.ts'
export { jobQueries, jobWithRuns, type QuerySource } from './job-queries.ts'
export { type Walk, walkOf } from './job-ranges.ts'
export { limitUses } from './limit-uses.ts'
export { runEndOf } from './run-end.ts'
export { byBytes, SearchIndex } from './search-index.ts'
export { countStanding } from './standing-walk.ts'
