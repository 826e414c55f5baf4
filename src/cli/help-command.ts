/** `duelog help [command...]`: the help of a command at any depth. */
import { Command } from 'commander'
import { nearestOf } from '../../streams/text/index.ts'
import { DuelogError } from '../errors/index.ts'
import { withExamples } from './remote/index.ts'
import { pathOf } from './usage-errors.ts'

export function helpCommand(program: () => Command): Command {
  return withExamples(new Command('help').description('Print the help of a command.'), ['help jobs', 'help jobs apply'])
    .argument('[command...]', 'the command, such as jobs apply')
    .action((words: string[]) => {
      let command = program()
      for (const word of words) command = subcommandOf(command, word)
      command.outputHelp()
    })
}

/** Throws `bad-usage`. */
function subcommandOf(command: Command, word: string): Command {
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name())
  const found = names.includes(word) ? command.commands.find((each) => each.name() === word) : undefined
  if (found !== undefined) return found
  const near = nearestOf(word, names)
  const hint = near === undefined ? '' : ` Did you mean ${near}?`
  throw new DuelogError('bad-usage', `${pathOf(command)} has no command ${JSON.stringify(word)}.${hint}`)
}
