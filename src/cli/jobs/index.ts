/** Commands on jobs and runs. */
export { type Definition, type JobAnswer, scheduleText } from './answers.ts'
export { timeOf } from './change-commands.ts'
export { jobsCommand } from './jobs-command.ts'
export { runsCommand } from './runs-command.ts'
