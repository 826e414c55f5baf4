/** Every command of `duelog` that a page names, also in the middle of a sentence or in a block that no test runs, exists with these flags and arguments. */
import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { programOf } from '../../src/program/cli/program.ts'
import { processTerminal } from '../../src/program/cli/terminal/index.ts'
import { filesIn, readHouseFile } from '../house/tree.ts'

const program = programOf(processTerminal, () => {})
const pages = [
  readHouseFile('README.md'),
  readHouseFile('CONTRIBUTING.md'),
  ...filesIn(['docs', 'examples'], '.md').filter(({ path }) => !path.startsWith('docs/adr/') && path !== 'docs/CLI.md'),
]

/** Inline code and lines of shell blocks, from the word duelog on to the end of the command. */
function commandsOf(text: string): string[] {
  const blocks = [...text.matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```/gm)].flatMap(([, body = '']) => body.split('\n'))
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
  return [...blocks, ...inline].flatMap(
    (line) => /^(?:.*?[;|(] *|(?:until|if|while) |\w+=\S+ )*(?:npx )?duelog ([a-z-].*)/.exec(line)?.[1] ?? [],
  )
}

const wordsOf = (command: string): string[] =>
  [...(command.split(/ (?:[|>;]|#|&&|\|\|)/)[0] ?? '').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) => word)

/** What is wrong with a command; undefined: nothing. */
function problemOf(words: readonly string[]): string | undefined {
  let command: Command = program
  let at = 0
  for (; command.commands.length > 0 && words[at]?.startsWith('-') === false; at++) {
    const next = command.commands.find((each) => each.name() === words[at])
    if (next === undefined) return `no command ${words[at]}`
    command = next
  }
  let given = 0
  for (; at < words.length; at++) {
    const [name = '', value] = (words[at] ?? '').split('=')
    if (!name.startsWith('-')) given++
    else if (!['--help', '--version'].includes(name)) {
      const option = command.options.find(({ long, short }) => long === name || short === name)
      if (option === undefined) return `no option ${name}`
      if ((option.required || option.optional) && value === undefined && option.variadic !== true) at++
    }
  }
  const most = command.registeredArguments.some(({ variadic }) => variadic)
    ? Number.POSITIVE_INFINITY
    : command.registeredArguments.length
  return given > most ? `${given} arguments, at most ${most}` : undefined
}

test('the commands of the pages exist', () => {
  const found = pages.flatMap(({ path, text }) => commandsOf(text).map((command) => ({ path, command })))
  expect(found.length).toBeGreaterThan(100)
  expect(
    found.flatMap(({ path, command }) => {
      const problem = problemOf(wordsOf(command))
      return problem === undefined ? [] : [`${path}: duelog ${command}: ${problem}`]
    }),
  ).toEqual([])
})

test('a wrong command, flag or number of arguments is found', () => {
  const problems = commandsOf(
    '`duelog why x` and `npx duelog runs logs a 1 --follow`, `duelog jobs list --tags a`, `duelog jobs get a/b`\n',
  )
  expect(problems.map((command) => problemOf(wordsOf(command)))).toEqual([
    'no command why',
    '2 arguments, at most 1',
    'no option --tags',
    undefined,
  ])
})
