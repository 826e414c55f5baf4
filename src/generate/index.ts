/** A load on a running Duelog, judged by the log. */
export { generate } from './generate.ts'
export type { Kind, LoadOptions, Mix } from './plan.ts'
export { isWhole, summaryOf } from './summary.ts'
