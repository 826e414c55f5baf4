/** `duelog completion SHELL`, and the hidden `duelog complete` that its scripts call. */
import { Argument, Command } from 'commander'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { candidatesOf } from './candidates.ts'
import { type ShellName, scripts, shells } from './scripts.ts'

export function completionCommand({ terminal }: CommandFrame): Command {
  return withExamples(new Command('completion').description('Print the shell script that enables tab completion.'), [
    'completion bash > ~/.local/share/bash-completion/completions/duelog',
    'completion zsh > ~/.zfunc/_duelog   # ~/.zfunc must be in fpath',
    'completion fish > ~/.config/fish/completions/duelog.fish',
  ])
    .addArgument(new Argument('<shell>', 'the shell').choices(shells))
    .action((shell: ShellName) => void terminal.stdout.write(scripts[shell]))
}

/** Prints one candidate per line: the word, a tab, its description. */
export function completeCommand({ terminal }: CommandFrame, program: () => Command): Command {
  return new Command('complete')
    .description('Print completion candidates for a command line.')
    .argument('[words...]')
    .allowUnknownOption()
    .action((words: string[]) => {
      for (const { word, description } of candidatesOf(program(), words)) terminal.stdout.write(`${word}\t${description}\n`)
    })
}
