/** Commands on jobs and runs. */

export { auditListCommand } from './audit-list-command.ts'
export { faultsCommand } from './faults-command.ts'
export { handlersCommand } from './handlers-command.ts'
export { historyCommand } from './history-command.ts'
export { scheduleText } from './job-text.ts'
export { jobsCommand } from './jobs-command.ts'
export { operationsCommand } from './operations-command.ts'
export { poolsCommand, workersCommand } from './pools-command.ts'
export { runsCommand } from './runs-command.ts'
export { asUsageError, type ScheduleFlags, scheduleOf, scheduleOptions } from './schedule-flags.ts'
