/** Commands on jobs and runs. */
export { faultsCommand } from './faults-command.ts'
export { handlersCommand, historyCommand } from './history-command.ts'
export { jobsCommand } from './jobs-command.ts'
export { operationsCommand } from './operations-command.ts'
export { poolsCommand, workersCommand } from './pools-command.ts'
export { asUsageError, type ScheduleFlags, scheduleOf, scheduleOptions } from './put-command.ts'
export { runsCommand } from './runs-command.ts'
export { scheduleText } from './texts.ts'
