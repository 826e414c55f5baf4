/** `duelog runs redrive` and `discard`: dead runs by their IDs, or all that match a filter. */
import type { Command } from 'commander'
import { changeWords } from '../../../streams/text/index.ts'
import type { CommandResult, Run } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import {
  type CommandFrame,
  forEach,
  idempotencyOf,
  idempotencyOption,
  pagesOf,
  remoteCommand,
  remotely,
  type Shell,
} from '../remote/index.ts'
import { integer, jsonText, numberText, type RangeFlags, rangeOf, rangeOptions } from '../terminal/index.ts'
import { doneOf } from './change-commands.ts'
import { type FilterFlags, filterOf, listedIdsMax, operate, operateByFlags } from './operate.ts'
import { routeOf } from './run-text.ts'

interface RedriveFlags extends FilterFlags, RangeFlags {
  dead?: boolean
  first?: number
  /** The name of `first` in earlier versions. */
  max?: number
  idempotencyKey?: string
}

export function redriveCommand(frame: CommandFrame): Command {
  const command = remoteCommand('redrive', 'Redrive dead runs: create new runs with the same payload and target.', [
    'runs redrive report-7/12 report-8/3',
    'runs redrive --dead --handler send-report',
    'runs redrive --dead --error-type TimeoutError --since 1h --first 10',
  ])
    .argument('[runs...]', 'IDs of the runs')
    .option('--dead', 'redrive all dead runs that match the filters, each once, as one operation of the server')
    .option('--dry-run', 'with --dead: only count the runs')
    .option('--detach', 'with --dead: print the ID of the operation and do not wait for its end')
    .addOption(idempotencyOption())
  return withFilters(command).action((names: string[], flags: RedriveFlags) =>
    remotely(frame, flags, async (shell) => {
      checkChoice(names, flags, [...filterNames, 'dryRun', 'detach'])
      if (flags.dead) await changeDead(shell, 'REDRIVE', flags)
      else
        await forEach(shell, 'runId', names, async (name) =>
          doneOf(await shell.api.post<CommandResult>(`${routeOf(name)}/redrive`, undefined, idempotencyOf(flags))),
        )
    }),
  )
}

export function discardCommand(frame: CommandFrame): Command {
  const command = remoteCommand('discard', 'Discard dead runs: they keep their records, and no longer count as dead.', [
    'runs discard report-7/12 report-8/3',
    'runs discard --dead --tag trial',
  ])
    .argument('[runs...]', 'IDs of the runs')
    .option('--dead', 'discard all dead runs that match the filters')
    .option('--dry-run', 'only count the runs')
    .option('--detach', 'print the ID of the operation and do not wait for its end')
  return withFilters(command).action((runIds: string[], flags: RedriveFlags) =>
    remotely(frame, flags, async (shell) => {
      checkChoice(runIds, flags, filterNames)
      if (flags.dead) await changeDead(shell, 'DISCARD', flags)
      else await operate(shell, { action: 'DISCARD', runIds }, flags)
    }),
  )
}

const filterNames = ['tag', 'handler', 'idPrefix', 'errorType', 'from', 'to', 'since', 'first', 'max'] as const

function withFilters(command: Command): Command {
  for (const option of rangeOptions('with --dead: only runs that died')) command.addOption(option)
  return command
    .option('--tag <tag>', 'with --dead: only runs of jobs with this tag')
    .option('--handler <name>', 'with --dead: only runs of jobs with this handler')
    .option('--id-prefix <text>', 'with --dead: only runs of jobs whose ID begins with this text')
    .option('--error-type <type>', 'with --dead: only runs whose last error has this type')
    .addOption(integer('--first <n>', 'with --dead: only the newest of them, as one operation', undefined, 1, listedIdsMax))
    .addOption(integer('--max <n>', 'the name of --first in earlier versions', undefined, 1, listedIdsMax).hideHelp())
}

/** `needDead`: options that would have no effect beside IDs. */
function checkChoice(runIds: readonly string[], flags: RedriveFlags, needDead: readonly (keyof RedriveFlags)[]): void {
  if (runIds.length > 0 === (flags.dead === true)) throw new DuelogError('bad-usage', 'Give the IDs of runs, or --dead.')
  const [without] = flags.dead ? [] : needDead.filter((name) => flags[name] !== undefined)
  if (without === undefined) return
  const option = without.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  throw new DuelogError('bad-usage', `--${option} needs --dead; it has no effect on IDs of runs.`)
}

/** An operation on all dead runs that match, or on the newest of them. Then it has a list of them, so that its total is their number. */
async function changeDead(shell: Shell, action: 'REDRIVE' | 'DISCARD', given: RedriveFlags): Promise<void> {
  const { api, json, terminal } = shell
  const { dryRun, max } = given
  const flags = { ...given, ...rangeOf(given) }
  const first = given.first ?? max
  if (first === undefined) return operateByFlags(shell, action, flags)
  const runIds: string[] = []
  const take = ({ runId }: Run): void => void runIds.push(runId)
  const more = await pagesOf<Run>(api, '/v1/dead-letters', filterOf(flags), 'runs', first, take)
  if (runIds.length === 0) {
    const none = dryRun ? jsonText({ count: 0 }, terminal.stdout) : ''
    return void terminal.stdout.write(json ? none : 'No dead runs.\n')
  }
  const again =
    action === 'REDRIVE' ? ' With it, a repeat begins with the newest again, also with those that were redriven and failed.' : ''
  if (more) {
    terminal.stderr.write(
      `More than ${numberText(first)} dead runs match. Without --first all are ${changeWords(action).done}, each once.${again}\n`,
    )
  }
  await operate(shell, { action, runIds }, flags)
}
