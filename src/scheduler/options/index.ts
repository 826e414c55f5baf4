/** What a scheduler and all of its partitions are given. */
export type { SchedulerCodecs, SchedulerOptions, Shared } from './options.ts'
export { SearchBudget } from './search-budget.ts'
