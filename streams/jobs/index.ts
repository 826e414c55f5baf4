/** The decision core: `step(job, input, context)`, and what definitions and commands do to a job. */
export { misdatedTimersOf } from './misdated-times.ts'
export { type JobPlan, type PlanRange, planJob } from './plan.ts'
export { commandRefusalText, type Reason, reasonText, whyOf } from './reasons.ts'
export {
  type Answer,
  answerTo,
  type Receipt,
  type ReplyTo,
  receiptRecord,
  replyHeaders,
  replyProblem,
  replyToOf,
  sourceHeader,
  sourceOf,
} from './receipt.ts'
export { invalidated, step } from './step.ts'
export { unreadableState } from './unreadable.ts'
