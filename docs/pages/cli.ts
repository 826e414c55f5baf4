/** docs/CLI.md: every command, from its own help. */
import type { Command } from 'commander'
import { programOf } from '../../src/program/cli/program.ts'
import { exitTable } from '../../src/program/cli/terminal/terminal.ts'
import { code, heading, page, table } from './markdown.ts'

/** Characters of a line of help. */
const tableColumns = 110

export function cliPage(): string {
  const written: string[] = []
  const output = { write: (text: string) => written.push(text), columns: tableColumns }
  const program = programOf({ stdout: output, stderr: output, env: {} }, () => {})
  const helpOf = (command: Command): string => {
    written.length = 0
    command.outputHelp()
    return written.join('').trimEnd()
  }
  return page(
    heading(
      'Command line',
      'src/program/cli',
      'Results go to stdout, everything else to stderr. `--json` gives one line of JSON for each result. Colors and progress bars appear only on terminals; `NO_COLOR` turns colors off. An error is one sentence; `--debug` adds where it happened. Commands that ask a running Duelog use `--url` or `DUELOG_URL` and send the token in `DUELOG_TOKEN`. Commands that talk to Kafka take the [settings](CONFIGURATION.md) of `duelog up`.',
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
      '`duelog jobs apply` and `plan` read NDJSON (`.ndjson`, `.jsonl`, standard input) with one job per line and any length. They also read YAML or JSON (`.yaml`, `.yml`, `.json`) of at most 16 MiB, where each document is a job or a list of jobs. A job has the fields in [JOBS](JOBS.md), with its `id`, and at most 1 MiB. Files are UTF-8. A file that is not, or in which an id is there twice (among the first 2,000,000), is refused with its line before anything is sent; of what is piped, jobs before that line are applied.',
    ].join('\n'),
    [
      '## What an audit proves',
      '',
      '`duelog audit` reads definitions, states, executions, `worker-control`, events and dead letters with `read_committed`, up to the ends that they have when it starts. It uses its own consumer group and deletes it. The role `auditor` does the same all the time, and shows it at `/v1/proof`. Both find:',
      '',
      table(
        ['Finding', 'Meaning'],
        [
          [
            code('lost'),
            'a dispatched run that has no end and is not in the state of its job, an active run that vanished, or a run that no worker started by its start deadline',
          ],
          [
            code('missed'),
            'an occurrence of the definition in force, by its calendar, that has no run and that the owner does not count as skipped',
          ],
          [
            code('duplicate'),
            'an attempt that was dispatched twice, or again after its run had ended, or two runs of one occurrence',
          ],
          [
            code('early'),
            "an attempt that started before it was due, by the clock of its worker, or by the broker's append time of the state that says so",
          ],
          [code('overdue'), 'a job whose next occurrence was due longer ago than `--grace`, without a decision'],
          [
            code('undispatched'),
            'an attempt that was handed out or ended by a worker according to the state, but has no dispatch; with `--target-topics` also a run without its record',
          ],
          [code('gap'), 'a run number that no run has'],
          [code('ended-twice'), 'a run that ended, and then ended or continued again'],
        ],
      ),
      '',
      'These are no findings: an attempt that two workers started (handlers run at least once; it is counted), a run that waits for a limit (it is counted), and everything that retention has deleted. Missed occurrences are not searched in three cases: in intervals from the END of runs, if a job of an earlier version skipped 1,000 or more in one step, and if only states after a change of the schedule are left. The audit keeps its data in its own folder under the system temporary folder, and memory does not grow with the log. `--from` and `--to` shorten reading. Beyond 2,000 open runs of one job, or 100,000 occurrences in one step, it counts them as not judged. For cron and rrule it uses the same calendar as owners; intervals and instants it computes by itself.',
    ].join('\n'),
    ...leavesOf(program).map(({ name, command }) => [`## duelog ${name}`, '', '```text', helpOf(command), '```'].join('\n')),
  )
}

function leavesOf(command: Command, path: readonly string[] = []): { name: string; command: Command }[] {
  const visible = command.createHelp().visibleCommands(command)
  const below = visible.flatMap((child) => leavesOf(child as Command, [...path, child.name()]))
  // One that does something itself has options of its own.
  const itself = path.length > 0 && command.options.length > 0 ? [{ name: path.join(' '), command }] : []
  return visible.length === 0 ? [{ name: path.join(' '), command }] : [...itself, ...below]
}
