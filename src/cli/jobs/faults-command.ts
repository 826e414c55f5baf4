/** `duelog faults …`: what the auditors found, and what operators say about it. */
import { Command } from 'commander'
import { counted } from '../../../streams/text/index.ts'
import type { AcknowledgedFaults, Finding, Proof } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type CommandFrame, type RemoteFlags, remoteCommand, remotely } from '../remote/index.ts'
import { inSentence, numberText, painterOf, type TimeText, tableText, writeAsJson } from '../terminal/index.ts'

export function faultsCommand(frame: CommandFrame): Command {
  const group = new Command('faults').description('List and acknowledge the faults that the auditors found in the log.')
  for (const command of [listCommand(frame), acknowledgeCommand(frame)]) group.addCommand(command)
  return group
}

function listCommand(frame: CommandFrame): Command {
  return remoteCommand('list', 'List the last 100 faults that the auditors found, newest first.', ['faults list --open'])
    .option('--open', 'only faults that nobody has acknowledged')
    .action((flags: RemoteFlags & { open?: boolean }) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const { recent, found, unacknowledged } = await api.get<Proof>('/v1/proof')
        const shown = flags.open ? recent.filter(isOpen) : recent
        if (json) for (const fault of shown) writeAsJson(terminal.stdout, fault)
        else if (shown.length > 0)
          terminal.stdout.write(
            tableText(
              ['ID', 'FOUND', 'KIND', 'JOB OR RUN', 'ACKNOWLEDGED', 'DETAIL'],
              shown.map((fault) => [
                fault.id ?? '',
                time(fault.at),
                fault.kind,
                fault.what,
                acknowledgedText(fault, time),
                inSentence(fault.detail, time),
              ]),
              painterOf(terminal.stdout, terminal.env),
            ),
          )
        if (!json) terminal.stdout.write(`${counted(found, 'fault')}, ${numberText(unacknowledged)} not acknowledged.\n`)
      }),
    )
}

function acknowledgeCommand(frame: CommandFrame): Command {
  return remoteCommand('acknowledge', 'Acknowledge faults, so that the alert ends. They stay in the list.', [
    "faults acknowledge 3.1 --reason 'clock of host b, replaced'",
    "faults acknowledge --all --reason 'drill'",
  ])
    .argument('[ids...]', 'IDs of the faults')
    .option('--all', 'all faults that were found until now')
    .requiredOption('--reason <text>', 'what is known about them, at most 500 characters')
    .action((ids: string[], flags: RemoteFlags & { all?: boolean; reason: string }) =>
      remotely(frame, flags, async ({ api, json, terminal }) => {
        const { all = false, reason } = flags
        if (all === ids.length > 0) throw new DuelogError('bad-usage', 'Give either IDs of faults or --all.')
        const newest = all ? (await api.get<Proof>('/v1/proof')).recent[0] : undefined
        const done: AcknowledgedFaults =
          all && newest === undefined
            ? { acknowledged: 0, unacknowledged: 0 }
            : await api.post<AcknowledgedFaults>('/v1/proof/acknowledge', {
                ...(newest === undefined ? { ids } : { upTo: newest.at }),
                reason,
              })
        const { acknowledged, unacknowledged, unknown = [] } = done
        if (json) writeAsJson(terminal.stdout, done)
        else terminal.stdout.write(`${counted(acknowledged, 'fault')} acknowledged, ${numberText(unacknowledged)} not.\n`)
        if (unknown.length > 0)
          throw new DuelogError(
            'command-refused',
            `No fault is known as ${unknown.join(', ')}. \`duelog faults list\` shows IDs.`,
          )
      }),
    )
}

const isOpen = ({ acknowledged }: Finding): boolean => acknowledged == null

const acknowledgedText = ({ acknowledged }: Finding, time: TimeText): string =>
  acknowledged == null ? '' : `${acknowledged.by}, ${time(acknowledged.at)}: ${acknowledged.reason}`
