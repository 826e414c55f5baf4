/** Completion candidates, computed from the tree of commands, so that there is no list to maintain. */
import type { Command, Option } from 'commander'

export interface Candidate {
  word: string
  /** Shown beside the word by shells. */
  description: string
}

/** A word that only a running Duelog knows. */
export type AskedWord = 'id' | 'tag'

/** What the server is asked for; undefined: nothing. */
export function askedWordOf(program: Command, words: readonly string[]): AskedWord | undefined {
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
