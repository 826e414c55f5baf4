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
    [
      '## What an audit proves',
      '',
      '`duelog audit` reads definitions, state, executions, events and dead letters, read committed, up to where they end when it begins, in a consumer group of its own that it deletes. It finds:',
      '',
      table(
        ['Finding', 'Is'],
        [
          [
            code('lost'),
            'a run that was dispatched and has neither an end nor a place in its job, or that nobody started by its start deadline',
          ],
          [
            code('missed'),
            'an occurrence of the definition in force, by its calendar, without a run, that the owner does not count as skipped',
          ],
          [code('duplicate'), 'an attempt that was dispatched twice, or two runs of one occurrence'],
          [code('early'), 'an attempt that started before it was due, by the clock of its worker'],
          [code('overdue'), 'a job whose next occurrence was due longer ago than `--grace`, and about which nothing was decided'],
        ],
      ),
      '',
      'Workers run at least once: an attempt that two workers started is counted, and is no finding. So is a run that a limit keeps waiting. What retention has taken is not held against anybody. Missed occurrences are not looked for where the log cannot tell: jobs with a topic target, pinned jobs, intervals from the END of runs, jobs with 1,000 skips and more, and definitions that took over the phase of an earlier one. All runs in the range are held in memory, some 900 bytes each; `--from` and `--to` bound it.',
    ].join('\n'),
    ...leavesOf(program).map(({ name, command }) => [`## duelog ${name}`, '', '```text', helpOf(command), '```'].join('\n')),
  )
}

function leavesOf(command: Command, path: readonly string[] = []): { name: string; command: Command }[] {
  const visible = command.createHelp().visibleCommands(command)
  if (visible.length === 0) return [{ name: path.join(' '), command }]
  return visible.flatMap((child) => leavesOf(child as Command, [...path, child.name()]))
}
