/** What a scheduler and all of its partitions are given. */
export type { SchedulerCodecs } from './codecs.ts'
export type { SchedulerOptions, Shared } from './options.ts'
export { SearchBudget } from './search-budget.ts'
