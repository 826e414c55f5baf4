/** A load on a running Duelog, judged by the log. */
export { generate, isWhole, summaryOf } from './generate.ts'
export type { JobPriority, Kind, LoadOptions, Mix } from './plan.ts'
