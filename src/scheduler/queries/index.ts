/** Reads of a partition: jobs, lists, searches, forecasts. They change nothing. */
export { Forecasts } from './forecast.ts'
export { jobQueries, type Sight } from './job-queries.ts'
export { Catalogue } from './search-index.ts'
