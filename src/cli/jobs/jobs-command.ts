/** `duelog jobs …`. */
import { Command } from 'commander'
import type { CommandFrame } from '../remote/index.ts'
import { applyCommand } from './apply-command.ts'
import { backfillCommand, removeCommand, skipCommand, triggerCommand, wordCommands } from './change-commands.ts'
import { planCommand } from './plan-command.ts'
import { putCommand } from './put-command.ts'
import { getCommand, listCommand, whyCommand } from './read-commands.ts'

export function jobsCommand(frame: CommandFrame): Command {
  const group = new Command('jobs').description('Create, show, change and delete jobs.')
  for (const command of [
    putCommand(frame),
    applyCommand(frame),
    planCommand(frame),
    getCommand(frame),
    listCommand(frame),
    whyCommand(frame),
    triggerCommand(frame),
    ...wordCommands(frame),
    skipCommand(frame),
    backfillCommand(frame),
    removeCommand(frame),
  ])
    group.addCommand(command)
  return group
}
