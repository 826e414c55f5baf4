/** Reads of a partition: jobs, lists, searches, forecasts. They change nothing. */
export { Forecasts } from './forecast.ts'
export { jobQueries, type QuerySource } from './job-queries.ts'
export { SearchIndex } from './search-index.ts'
