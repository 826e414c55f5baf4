/**
 * What follows from the tree of commands: `duelog completion SHELL` with its scripts, and the hidden `duelog complete` that they call;
 * `duelog help [command...]`, and what stands below an error of the command line: the usage of the command, or the commands of that name
 * elsewhere.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Command, Option } from 'commander'
import { nearestOf } from '../../../streams/text/index.ts'
import { DuelogError } from '../../ground/errors/index.ts'
import { type CommandFrame, type CommandPlan, withShell } from './remote/index.ts'

const shells = ['bash', 'zsh', 'fish'] as const
type ShellName = (typeof shells)[number]

const bash = `# Completion of duelog for bash: source <(duelog completion bash)
_duelog() {
  local IFS=$'\\n' found
  found=$(duelog complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)
  COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _duelog duelog
`

const zsh = `#compdef duelog
# Completion of duelog for zsh: source <(duelog completion zsh)
_duelog() {
  local -a found
  local line
  for line in "\${(@f)$(duelog complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#found} )); then _describe 'duelog' found; else _files; fi
}
if [[ $funcstack[1] == _duelog ]]; then _duelog "$@"; else compdef _duelog duelog; fi
`

const fish = `# Completion of duelog for fish: duelog completion fish | source
function __duelog_complete
  set -l words (commandline -opc)
  duelog complete -- $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c duelog -e
complete -c duelog -f -n 'test -n "$(__duelog_complete)"' -a '(__duelog_complete)'
`

/** The scripts call the program, so a new version needs no new script. Without candidates the shell offers files. */
const scripts: Record<ShellName, string> = { bash, zsh, fish }

export const completionCommand: CommandPlan = {
  name: 'completion',
  description: 'Print the shell script that enables tab completion.',
  examples: [
    'completion bash > ~/.local/share/bash-completion/completions/duelog',
    'completion zsh > ~/.zfunc/_duelog   # ~/.zfunc must be in fpath',
    'completion fish > ~/.config/fish/completions/duelog.fish',
  ],
  args: { '<shell>': 'the shell' },
  choices: shells,
  run: ({ terminal }, shell: ShellName) => void terminal.stdout.write(scripts[shell]),
}

/** Prints one candidate per line: the word, a tab, its description. */
export const completeCommand: CommandPlan = {
  name: 'complete',
  description: 'Print completion candidates for a command line.',
  args: { '[words...]': '' },
  isHidden: true,
  async run(frame, words: string[]) {
    const { terminal, program } = frame
    for (const { word, description } of candidatesOf(program(), words)) terminal.stdout.write(`${word}\t${description}\n`)
    const asked = askedWordOf(program(), words)
    if (asked !== undefined)
      for (const word of await wordsOfServer(frame, asked, words.at(-1) ?? '')) terminal.stdout.write(`${word}\t\n`)
  },
}

interface Candidate {
  word: string
  /** Shown beside the word by shells. */
  description: string
}

/** A word that only a running Duelog knows. */
type AskedWord = 'id' | 'tag'

/** What the server is asked for; undefined: nothing. */
function askedWordOf(program: Command, words: readonly string[]): AskedWord | undefined {
  const { command, awaited } = placeOf(program, words)
  if (awaited !== undefined) return awaited.long === '--tag' ? 'tag' : undefined
  if ((words.at(-1) ?? '').startsWith('-')) return undefined
  const takesIds = ({ description }: { description: string }): boolean => /^IDs? of the jobs?$/.test(description)
  return command.commands.length === 0 && command.registeredArguments.some(takesIds) ? 'id' : undefined
}

/** `words` follow the program's name; the last one is being typed and may be empty. An empty result means a file, or anything. */
export function candidatesOf(program: Command, words: readonly string[]): Candidate[] {
  const typed = words.at(-1) ?? ''
  const { command, awaited } = placeOf(program, words)
  const found = awaited === undefined ? [...commandsIn(command), ...optionsIn(command, typed)] : choicesOf(awaited)
  return found.filter(({ word }) => word.startsWith(typed))
}

/** The command that the words name, and its option whose value comes next. */
function placeOf(program: Command, words: readonly string[]): { command: Command; awaited: Option | undefined } {
  let command = program
  let awaited: Option | undefined
  for (const word of words.slice(0, -1)) {
    if (awaited !== undefined) awaited = undefined
    else if (word.startsWith('-')) awaited = valueOption(command, word)
    else command = childOf(command, word) ?? command
  }
  return { command, awaited }
}

/** The option, if the next word is its value. */
function valueOption(command: Command, word: string): Option | undefined {
  return command.options.find((option) => option.required && (option.long === word || option.short === word))
}

function childOf(command: Command, word: string): Command | undefined {
  return command.commands.find((child) => child.name() === word)
}

function commandsIn(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ word: child.name(), description: firstSentence(child.description()) }))
}

/** Options are offered only after a dash; before that the user wants a command. */
function optionsIn(command: Command, typed: string): Candidate[] {
  if (!typed.startsWith('-')) return []
  return command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long == null ? [] : [{ word: long, description: firstSentence(description) }]))
}

function choicesOf(option: Option): Candidate[] {
  return (option.argChoices ?? []).map((word) => ({ word, description: '' }))
}

function firstSentence(text: string): string {
  return /^[^.[\n]*/.exec(text)?.[0].trim() ?? ''
}

/** How long a key press waits for the server. */
const askedMs = 1_000
const idsMax = 50
/** Jobs whose tags are offered. */
const taggedMax = 200

/**
 * Shells expand the words that they are offered: bash would run a command in a job id. So only words of harmless characters are offered.
 */
const harmless = /^[A-Za-z0-9._/:@+{}-]+$/

/** Words that begin with `typed`, sorted. Empty if the server does not answer in time. */
async function wordsOfServer(frame: CommandFrame, asked: AskedWord, typed: string): Promise<string[]> {
  const found = new Set<string>()
  const look = withShell(frame, {}, async ({ api }) => {
    const query = asked === 'tag' ? { limit: taggedMax } : { limit: idsMax, ...(typed && { idPrefix: typed }) }
    const { jobs } = await api.listJobs(query)
    for (const { id, definition } of jobs) for (const word of asked === 'id' ? [id] : (definition?.tags ?? [])) found.add(word)
  })
  // A shell shows nothing but words, so an error is no candidate.
  await Promise.race([look.catch(() => undefined), wait(askedMs, undefined, { ref: false })])
  return [...found].filter((word) => word.startsWith(typed) && harmless.test(word)).sort()
}

export const helpCommand: CommandPlan = {
  name: 'help',
  description: 'Print the help of a command.',
  examples: ['help jobs', 'help jobs apply'],
  args: { '[command...]': 'the command, such as jobs apply' },
  run({ program }, words: string[]) {
    let command = program()
    for (const word of words) command = subcommandOf(command, word)
    command.outputHelp()
  },
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
