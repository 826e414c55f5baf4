/** `duelog handlers`: the ended runs of each handler. */
import type { Command } from 'commander'
import { duration, shareText } from '../../../streams/text/index.ts'
import type { HandlerList } from '../../answers/index.ts'
import { type CommandFrame, type RemoteFlags, remoteCommand, remotely } from '../remote/index.ts'
import { numberText, painterOf, type RangeFlags, rangeOf, rangeOptions, tableText, writeAsJson } from '../terminal/index.ts'

type Handler = HandlerList['handlers'][number]

const head = ['HANDLER', 'RUNS', 'FAILED', 'SHARE', 'DURATION P50', 'P95', 'LATENESS P50', 'P95']

export function handlersCommand(frame: CommandFrame): Command {
  const command = remoteCommand(
    'handlers',
    'Show the ended runs of each handler, those with most runs first: how many, how many failed, how long they took and how late they started. By default those of the last 24 h; the range is widened to whole hours.',
    ['handlers', 'handlers --since 1h', 'handlers --from yesterday --to today --json'],
  )
  for (const option of rangeOptions('only runs that ended')) command.addOption(option)
  return command.action((flags: RemoteFlags & RangeFlags) =>
    remotely(frame, flags, async ({ api, json, terminal }) => {
      const { handlers } = await api.get<HandlerList>('/v1/history/handlers', rangeOf(flags))
      if (json) for (const handler of handlers) writeAsJson(terminal.stdout, handler)
      else if (handlers.length === 0) terminal.stdout.write('No runs.\n')
      else terminal.stdout.write(tableText(head, handlers.map(rowOf), painterOf(terminal.stdout, terminal.env)))
    }),
  )
}

function rowOf({ handler, runs, failed, duration: took, lateness }: Handler): string[] {
  const times = [took?.p50Ms, took?.p95Ms, lateness?.p50Ms, lateness?.p95Ms]
  return [
    ...[handler, numberText(runs), numberText(failed), failed === 0 ? '' : shareText(failed / runs)],
    ...times.map((ms) => (ms === undefined ? '' : duration(ms))),
  ]
}
