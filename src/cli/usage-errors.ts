/** What stands below an error of the command line: the usage of the command, or the commands of that name elsewhere. */
import type { Command } from 'commander'

/** Of more commands with one name, such as list, none is the likely one. */
const commandsMax = 3

/** One line, or empty if nothing helps. `text`: the error in the words of commander. */
export function helpAfter(text: string, command: Command): string {
  if (/^error: (too many arguments|missing required argument)/.test(text)) return `Usage: ${pathOf(command)} ${command.usage()}\n`
  const name = /^error: unknown command '([^']*)'\n$/.exec(text)?.[1]
  if (name === undefined) return ''
  const paths = commandsBelow(rootOf(command)).filter((each) => each.name() === name)
  if (paths.length === 0 || paths.length > commandsMax) return ''
  return `(Did you mean ${paths.map((each) => pathOf(each).replace(/^\w+ /, '')).join(' or ')}?)\n`
}

export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`
}

function rootOf(command: Command): Command {
  return command.parent === null ? command : rootOf(command.parent)
}

function commandsBelow(command: Command): Command[] {
  return command.commands.flatMap((each) => [each, ...commandsBelow(each)])
}
