/** docs/CLI.md: every command as its own help tells it. */
import type { Command } from 'commander'
import { exitTable } from '../../src/cli/exit-codes.ts'
import { createProgram } from '../../src/cli/program.ts'
import { code, heading, page, table } from './markdown.ts'

/** Characters of a line of help. */
const COLUMNS = 110

export function cliPage(): string {
  const written: string[] = []
  const output = { write: (text: string) => written.push(text), columns: COLUMNS }
  const program = createProgram({ stdout: output, stderr: output, env: {} }, () => {})
  const helpOf = (command: Command): string => {
    written.length = 0
    command.outputHelp()
    return written.join('').trimEnd()
  }
  return page(
    heading(
      'Command line',
      'src/cli',
      'Results go to stdout, everything else to stderr. `--json` gives one line of JSON for each result. Colours and progress bars appear on terminals only; `NO_COLOR` turns colours off. An error is one sentence; `--debug` adds where it happened. Commands that ask a running Duelog find it by `--url` or `DUELOG_URL` and send the token in `DUELOG_TOKEN`; those that talk to Kafka take the [settings](CONFIGURATION.md) of `duelog up`.',
    ),
    [
      '## Exit codes',
      '',
      table(
        ['Code', 'Meaning'],
        exitTable.map(({ code: exit, meaning }) => [code(String(exit)), meaning]),
      ),
    ].join('\n'),
    [
      '## Job files',
      '',
      '`duelog jobs apply` and `plan` take NDJSON (`.ndjson`, `.jsonl`, standard input): one job a line, files of any length. And YAML or JSON (`.yaml`, `.yml`, `.json`) of at most 16 MiB: documents that are a job or a list of jobs. A job is as in [JOBS](JOBS.md), with its `id`.',
    ].join('\n'),
    ...leavesOf(program).map(({ name, command }) => [`## duelog ${name}`, '', '```text', helpOf(command), '```'].join('\n')),
  )
}

function leavesOf(command: Command, path: readonly string[] = []): { name: string; command: Command }[] {
  const visible = command.createHelp().visibleCommands(command)
  if (visible.length === 0) return [{ name: path.join(' '), command }]
  return visible.flatMap((child) => leavesOf(child as Command, [...path, child.name()]))
}
