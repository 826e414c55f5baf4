/** The demo: one day of real jobs in a minute, judged by the log. */
export { resolvedWithin, unlessAborted } from './abort.ts'
export { runDemo } from './demo.ts'
export { numberText, type Output } from './output.ts'
