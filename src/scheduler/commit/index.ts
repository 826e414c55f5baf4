/** One commit cycle: choose, apply to jobs, commit, store. */
export type { TurnContext } from './commit-context.ts'
export { batchRecordsMax, type TurnOptions, type TurnResult, turn } from './commit-cycle.ts'
export { Narrowing } from './failure-isolation.ts'
export { TimerTaker } from './timer-source.ts'
export { logPosition, saveLocal } from './transaction.ts'
