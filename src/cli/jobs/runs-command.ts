/** `duelog runs …`. */
import { Command } from 'commander'
import { counted } from '../../../streams/text/index.ts'
import type { CommandResult, Run } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import {
  type CommandFrame,
  forEach,
  idempotencyOf,
  idempotencyOption,
  pagesOf,
  path,
  type RemoteFlags,
  remoteCommand,
  remotely,
  staleOption,
  staleQueryOf,
} from '../remote/index.ts'
import { choice, integer, jsonText, numberText, painterOf, pairsText, tableText, writeAsJson } from '../terminal/index.ts'
import { laterText } from './change-commands.ts'
import { discardCommand, redriveCommand } from './redrive-command.ts'
import { logsCommand } from './run-logs-command.ts'
import { routeOf, runHead, runPairs, runRow } from './run-text.ts'

export function runsCommand(frame: CommandFrame): Command {
  const group = new Command('runs').description('List, show, retry, redrive, discard and cancel runs, and show their lines.')
  for (const command of [
    listCommand(frame),
    getCommand(frame),
    logsCommand(frame),
    retryCommand(frame),
    redriveCommand(frame),
    discardCommand(frame),
    cancelCommand(frame),
  ])
    group.addCommand(command)
  return group
}

interface ListFlags extends RemoteFlags {
  dead?: boolean
  state?: string
  tag?: string
  handler?: string
  limit: number
  stale?: boolean
}

const activeStates = ['DISPATCHED', 'RUNNING', 'RETRY_WAIT', 'WAITING']

function listCommand(frame: CommandFrame): Command {
  return remoteCommand(
    'list',
    'List the active runs of all jobs. With a job ID: its active and last runs, newest first. With --dead: all dead runs.',
    ['runs list --state RUNNING', 'runs list report-7', 'runs list --dead --tag reports'],
  )
    .argument('[id]', 'ID of the job')
    .option('--dead', 'dead runs of all jobs, which can be redriven')
    .addOption(choice('--state <state>', 'without an ID: only active runs in this state', activeStates))
    .option('--tag <tag>', 'without an ID: only runs of jobs with this tag')
    .option('--handler <name>', 'without an ID: only runs of jobs with this handler')
    .addOption(integer('--limit <n>', 'without an ID: maximum number of runs to show', 100, 1, 100_000))
    .addOption(staleOption())
    .action((id: string | undefined, flags: ListFlags) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const { tag, handler, limit, state, dead } = flags
        const several = [id, dead, state].filter((given) => given !== undefined)
        if (several.length > 1) throw new DuelogError('bad-usage', 'Give only one of these: a job ID, --dead, --state.')
        const runs: Run[] = []
        const stale = staleQueryOf(flags)
        const [route, filter] = dead ? ['/v1/dead-letters', { tag, handler }] : ['/v1/runs', { tag, handler, state }]
        const query = { ...filter, ...stale }
        let dropped = 0
        const more =
          id === undefined &&
          (await pagesOf<Run>(
            api,
            route,
            query,
            'runs',
            limit,
            (run) => runs.push(run),
            async (page) => {
              dropped = Number(page.dropped ?? 0)
              return true
            },
          ))
        if (id !== undefined) runs.push(...(await api.get<{ runs: Run[] }>(path`/v1/jobs/${id}/runs`, stale)).runs)
        const paint = painterOf(terminal.stdout, terminal.env)
        if (json) for (const run of runs) writeAsJson(terminal.stdout, run)
        else if (runs.length === 0) terminal.stdout.write(`${noRunsText(id, dead)}\n`)
        else
          terminal.stdout.write(
            tableText(
              runHead,
              runs.map((run) => runRow(run, paint, time)),
              paint,
            ),
          )
        if (dropped > 0)
          terminal.stderr.write(
            `${counted(dropped, 'older dead run')} of these jobs cannot be redriven: a job keeps at most 1,000.\n`,
          )
        if (more) terminal.stderr.write(`There are more than ${numberText(limit)}. Use --limit to see more.\n`)
      }),
    )
}

function noRunsText(id: string | undefined, dead: boolean | undefined): string {
  if (id !== undefined) return 'No runs.'
  return dead ? 'No dead runs.' : 'No active runs. `duelog history` lists ended ones.'
}

function getCommand(frame: CommandFrame): Command {
  return remoteCommand('get', 'Show a run: its attempts, worker, times, result and errors.', ['runs get report-7/12'])
    .argument('<run>', 'ID of the run: job ID, slash, number')
    .addOption(staleOption())
    .action((name: string, flags: RemoteFlags & { stale?: boolean }) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const run = await api.get<Run>(routeOf(name), staleQueryOf(flags))
        const paint = painterOf(terminal.stdout, terminal.env)
        terminal.stdout.write(json ? jsonText(run, terminal.stdout) : pairsText(runPairs(run, paint, time), paint))
      }),
    )
}

function retryCommand(frame: CommandFrame): Command {
  return remoteCommand('retry', 'Retry runs now that wait for their next attempt (RETRY_WAIT).', ['runs retry report-7/12'])
    .argument('<runs...>', 'IDs of the runs')
    .addOption(idempotencyOption())
    .action((names: string[], flags: RemoteFlags & { idempotencyKey?: string }) =>
      remotely(frame, flags, (shell) =>
        forEach(shell, 'runId', names, async (name) => {
          const facts = await shell.api.post<CommandResult>(`${routeOf(name)}/retry`, undefined, idempotencyOf(flags))
          return { facts, text: facts.applied ? 'is retried now.' : laterText(facts) }
        }),
      ),
    )
}

function cancelCommand(frame: CommandFrame): Command {
  return remoteCommand('cancel', 'Cancel runs. Their handlers are notified through their AbortSignal.', [
    'runs cancel report-7/12',
  ])
    .argument('<runs...>', 'IDs of the runs')
    .addOption(idempotencyOption())
    .action((names: string[], flags: RemoteFlags & { idempotencyKey?: string }) =>
      remotely(frame, flags, (shell) =>
        forEach(shell, 'runId', names, async (name) => {
          const facts = await shell.api.post<CommandResult>(`${routeOf(name)}/cancel`, undefined, idempotencyOf(flags))
          return {
            facts,
            text: facts.applied ? 'is cancelled.' : laterText(facts),
          }
        }),
      ),
    )
}
