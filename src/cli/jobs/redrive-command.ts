/** `duelog runs redrive` and `discard`: dead runs by their IDs, or all that match a filter. */
import type { Command } from 'commander'
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
import { integer, jsonText, numberText } from '../terminal/index.ts'
import { doneOf } from './change-commands.ts'
import { type FilterFlags, listedIdsMax, operate, operateByFlags } from './operate.ts'
import { routeOf } from './run-text.ts'

interface RedriveFlags extends FilterFlags {
  dead?: boolean
  max?: number
  idempotencyKey?: string
}

export function redriveCommand(frame: CommandFrame): Command {
  return remoteCommand('redrive', 'Redrive dead runs: create new runs with the same payload and target.', [
    'runs redrive report-7/12 report-8/3',
    'runs redrive --dead --handler send-report',
  ])
    .argument('[runs...]', 'IDs of the runs')
    .option('--dead', 'redrive all dead runs that match the filters, each once, as one operation of the server')
    .option('--tag <tag>', 'with --dead: only runs of jobs with this tag')
    .option('--handler <name>', 'with --dead: only runs of jobs with this handler')
    .addOption(integer('--max <n>', 'with --dead: only the first runs, as one operation', undefined, 1, listedIdsMax))
    .option('--dry-run', 'with --dead: only count the runs')
    .option('--detach', 'with --dead: print the ID of the operation and do not wait for its end')
    .addOption(idempotencyOption())
    .action((names: string[], flags: RedriveFlags) =>
      remotely(frame, flags, async (shell) => {
        checkChoice(names, flags, ['tag', 'handler', 'max', 'dryRun', 'detach'])
        if (flags.dead && flags.max !== undefined) await redriveSome(shell, { ...flags, max: flags.max })
        else if (flags.dead) await operateByFlags(shell, 'REDRIVE', flags)
        else
          await forEach(shell, 'runId', names, async (name) =>
            doneOf(await shell.api.post<CommandResult>(`${routeOf(name)}/redrive`, undefined, idempotencyOf(flags))),
          )
      }),
    )
}

export function discardCommand(frame: CommandFrame): Command {
  return remoteCommand('discard', 'Discard dead runs: they keep their records, and no longer count as dead.', [
    'runs discard report-7/12 report-8/3',
    'runs discard --dead --tag trial',
  ])
    .argument('[runs...]', 'IDs of the runs')
    .option('--dead', 'discard all dead runs that match the filters')
    .option('--tag <tag>', 'with --dead: only runs of jobs with this tag')
    .option('--handler <name>', 'with --dead: only runs of jobs with this handler')
    .option('--dry-run', 'only count the runs')
    .option('--detach', 'print the ID of the operation and do not wait for its end')
    .action((runIds: string[], flags: RedriveFlags) =>
      remotely(frame, flags, async (shell) => {
        checkChoice(runIds, flags, ['tag', 'handler'])
        if (flags.dead) await operateByFlags(shell, 'DISCARD', flags)
        else await operate(shell, { action: 'DISCARD', runIds }, flags)
      }),
    )
}

/** `needDead`: options that would have no effect beside IDs. */
function checkChoice(runIds: readonly string[], flags: RedriveFlags, needDead: readonly (keyof RedriveFlags)[]): void {
  if (runIds.length > 0 === (flags.dead === true)) throw new DuelogError('bad-usage', 'Give the IDs of runs, or --dead.')
  const [without] = flags.dead ? [] : needDead.filter((name) => flags[name] !== undefined)
  if (without === undefined) return
  const option = without === 'dryRun' ? 'dry-run' : without
  throw new DuelogError('bad-usage', `--${option} needs --dead; it has no effect on IDs of runs.`)
}

/** An operation on the first `max` runs that match. It has a list of them, so that its total is their number. */
async function redriveSome(shell: Shell, flags: RedriveFlags & { max: number }): Promise<void> {
  const { api, json, terminal } = shell
  const { tag, handler, max, dryRun } = flags
  const runIds: string[] = []
  const take = ({ runId }: Run): void => void runIds.push(runId)
  const more = await pagesOf<Run>(api, '/v1/dead-letters', { tag, handler }, 'runs', max, take)
  if (runIds.length === 0) {
    const none = dryRun ? jsonText({ count: 0 }, terminal.stdout) : ''
    return void terminal.stdout.write(json ? none : 'No dead runs.\n')
  }
  if (more) {
    terminal.stderr.write(
      `More than ${numberText(max)} dead runs match. Without --max all are redriven, each once. With it, a repeat begins with the first ones again, also if they have been redriven and have failed.\n`,
    )
  }
  await operate(shell, { action: 'REDRIVE', runIds }, flags)
}
