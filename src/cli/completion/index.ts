/** Tab completion of the shell. */
export { completeCommand, completionCommand } from './completion-command.ts'
