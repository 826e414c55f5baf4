/** Series of the last hour and the last 24 h, for charts. */
export { SeriesFile } from './series-file.ts'
export type { SeriesRange } from './series-keeper.ts'
export { SeriesSampler } from './series-sampler.ts'
