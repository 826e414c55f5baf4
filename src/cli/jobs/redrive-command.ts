/** `duelog runs redrive` and `discard`: dead runs by their IDs, or all that match a filter. */
import type { Command } from 'commander'
import type { CommandResult } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import {
  type CommandFrame,
  forEach,
  idempotencyOf,
  idempotencyOption,
  remoteCommand,
  remotely,
  type Shell,
} from '../remote/index.ts'
import { exitCodes, integer, numberText, oneLine, showProgress } from '../terminal/index.ts'
import { doneOf } from './change-commands.ts'
import { type FilterFlags, operate, operateByFlags } from './operate.ts'
import { routeOf } from './run-text.ts'

/** Maximum of runs that one call of the API redrives. */
const callMax = 1_000

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
    .addOption(integer('--max <n>', 'with --dead: maximum number of runs; without an operation', undefined, 1, 100_000))
    .option('--dry-run', 'with --dead: only count the runs')
    .option('--detach', 'with --dead: print the ID of the operation and do not wait for its end')
    .addOption(idempotencyOption())
    .action((names: string[], flags: RedriveFlags) =>
      remotely(frame, flags, async (shell) => {
        if (names.length > 0 === (flags.dead === true)) throw new DuelogError('bad-usage', 'Give the IDs of runs, or --dead.')
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
    .action((runIds: string[], flags: FilterFlags & { dead?: boolean }) =>
      remotely(frame, flags, async (shell) => {
        if (runIds.length > 0 === (flags.dead === true)) throw new DuelogError('bad-usage', 'Give the IDs of runs, or --dead.')
        if (flags.dead) await operateByFlags(shell, 'DISCARD', flags)
        else await operate(shell, { action: 'DISCARD', runIds }, flags)
      }),
    )
}

/** At most `max` runs. A later call may meet runs again that failed in between. */
async function redriveSome(
  { api, json, terminal, exit }: Shell,
  { tag, handler, max }: RedriveFlags & { max: number },
): Promise<void> {
  const progress = showProgress(terminal, undefined)
  const redriven = new Set<string>()
  const left = new Map<string, string>()
  let more = true
  try {
    while (more && redriven.size < max) {
      const body = { tag, handler, max: Math.min(callMax, max - redriven.size) }
      const answer = await api.post<{ runIds: string[]; left?: { runId: string; detail: string }[]; more: boolean }>(
        '/v1/dead-letters/redrive',
        body,
      )
      // The commands are durable, but their owners may not have applied them yet. A run found again is refused there, and not counted here.
      const found = answer.runIds.filter((runId) => !redriven.has(runId))
      for (const runId of found) {
        redriven.add(runId)
        if (json) terminal.stdout.write(`${JSON.stringify({ runId, ok: true })}\n`)
      }
      // Servers of earlier versions do not report it.
      for (const { runId, detail } of answer.left ?? []) left.set(runId, detail)
      more = answer.more
      if (found.length === 0) break
      progress.update(0, `${numberText(redriven.size)} redriven`)
    }
  } finally {
    progress.stop()
  }
  for (const runId of redriven) left.delete(runId)
  if (left.size > 0) exit(exitCodes.failed.code)
  if (json) for (const [runId, detail] of left) terminal.stdout.write(`${JSON.stringify({ runId, ok: false, detail })}\n`)
  else terminal.stdout.write(`${numberText(redriven.size)} redriven${more ? '; there are more, see --max' : ''}.\n`)
  if (!json && left.size > 0) terminal.stderr.write(leftText(left))
}

function leftText(left: ReadonlyMap<string, string>): string {
  const [first = ''] = left.values()
  return `${numberText(left.size)} not redriven, because their jobs have too many active runs: ${oneLine(first)} Run the same command again later; "duelog runs list --dead" shows them.\n`
}
