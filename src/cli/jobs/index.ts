/** Commands on jobs and runs. */

export { timeOf } from './change-commands.ts'
export { scheduleText } from './job-text.ts'
export { jobsCommand } from './jobs-command.ts'
export { runsCommand } from './runs-command.ts'
