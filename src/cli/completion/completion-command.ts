/** `duelog completion SHELL` with its scripts, and the hidden `duelog complete` that they call. */
import { Argument, Command } from 'commander'
import { type CommandFrame, withExamples } from '../remote/index.ts'
import { askedWordOf, candidatesOf } from './candidates.ts'
import { wordsOfServer } from './server-words.ts'

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
export function completeCommand(frame: CommandFrame, program: () => Command): Command {
  const { terminal } = frame
  return new Command('complete')
    .description('Print completion candidates for a command line.')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: string[]) => {
      for (const { word, description } of candidatesOf(program(), words)) terminal.stdout.write(`${word}\t${description}\n`)
      const asked = askedWordOf(program(), words)
      if (asked !== undefined)
        for (const word of await wordsOfServer(frame, asked, words.at(-1) ?? '')) terminal.stdout.write(`${word}\t\n`)
    })
}
