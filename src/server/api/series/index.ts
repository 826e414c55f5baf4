/** Series of the last hour and the last 24 h, for charts. */

export type { SeriesRange } from './series-keeper.ts'
export { SeriesFile, SeriesSampler } from './series-sampler.ts'
