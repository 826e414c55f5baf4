/** docs/CLI.md: every command as its own help tells it. */
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/program.ts'
import { exitTable } from '../../src/cli/terminal/exit-codes.ts'
import { code, heading, page, table } from './markdown.ts'

/** Characters of a line of help. */
const tableColumns = 110

export function cliPage(): string {
  const written: string[] = []
  const output = { write: (text: string) => written.push(text), columns: tableColumns }
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
      '`duelog audit` reads definitions, state, executions, `worker-control`, events and dead letters, read committed, up to where they end when it begins, in a consumer group of its own that it deletes. The role `auditor` does the same all the time, and shows it at `/v1/proof`. Either finds:',
      '',
      table(
        ['Finding', 'Is'],
        [
          [
            code('lost'),
            'a run that was dispatched and has neither an end nor a place in its job, one that was under way and vanished, or one that nobody started by its start deadline',
          ],
          [
            code('missed'),
            'an occurrence of the definition in force, by its calendar, without a run, that the owner does not count as skipped',
          ],
          [
            code('duplicate'),
            'an attempt that was dispatched twice, or again after its run had ended, or two runs of one occurrence',
          ],
          [
            code('early'),
            "an attempt that started before it was due, by the clock of its worker, or by the broker's append time of the state that says so",
          ],
          [code('overdue'), 'a job whose next occurrence was due longer ago than `--grace`, and about which nothing was decided'],
          [
            code('undispatched'),
            'an attempt that stands as handed out, or as ended by a worker, without a dispatch; with `--target-topics` also a run without its record',
          ],
          [code('gap'), 'a run number that no run has'],
          [code('ended-twice'), 'a run that ended, and ended or went on again'],
        ],
      ),
      '',
      'Workers run at least once: an attempt that two workers started is counted, and is no finding. So is a run that a limit keeps waiting. What retention has taken is not held against anybody. Missed occurrences are not looked for in intervals from the END of runs, where a job of an earlier version skipped 1,000 or more in one step, and where only states after a change of the schedule are left. What it keeps is in a folder of its own under the system temporary folder, and memory does not grow with the log; `--from` and `--to` spare reading. What it cannot judge is counted as not judged: above 2,000 open runs of one job, or 100,000 occurrences in one step. Cron and rrule come from the calendar that owners decide by; intervals and instants it computes by itself.',
    ].join('\n'),
    ...leavesOf(program).map(({ name, command }) => [`## duelog ${name}`, '', '```text', helpOf(command), '```'].join('\n')),
  )
}

function leavesOf(command: Command, path: readonly string[] = []): { name: string; command: Command }[] {
  const visible = command.createHelp().visibleCommands(command)
  if (visible.length === 0) return [{ name: path.join(' '), command }]
  return visible.flatMap((child) => leavesOf(child as Command, [...path, child.name()]))
}
