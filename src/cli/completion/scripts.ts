/** Completion scripts. They call the program, so a new version needs no new script. Without candidates the shell offers files. */

export const shells = ['bash', 'zsh', 'fish'] as const
export type ShellName = (typeof shells)[number]

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

export const scripts: Record<ShellName, string> = { bash, zsh, fish }
