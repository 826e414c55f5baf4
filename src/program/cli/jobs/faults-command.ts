/** `duelog faults …`: what the auditors found, and what operators say about it. */
import { Option } from 'commander'
import { counted } from '../../../../streams/text/index.ts'
import type { Finding } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import { groupOf, type List, type RemoteFlags, remoteCommand, showItems } from '../remote/index.ts'
import { inSentence, numberText, writeAsJson } from '../terminal/index.ts'

const faultList: Pick<List<Finding>, 'columns'> = {
  columns: [
    ['ID', ({ id }) => id ?? ''],
    ['FOUND', ({ at }, { time }) => time(at)],
    ['KIND', ({ kind }) => kind],
    ['JOB OR RUN', ({ what }) => what],
    [
      'ACKNOWLEDGED',
      ({ acknowledged }, { time }) =>
        acknowledged == null ? '' : `${acknowledged.by}, ${time(acknowledged.at)}: ${acknowledged.reason}`,
    ],
    ['DETAIL', ({ detail }, { time }) => inSentence(detail, time)],
  ],
}

const listCommand = remoteCommand({
  name: 'list',
  description: 'List the last 100 faults that the auditors found, newest first.',
  examples: ['faults list --open'],
  options: [new Option('--open', 'only faults that nobody has acknowledged')],
  run: async (shell, { open }: RemoteFlags & { open?: boolean }) => {
    const { recent, found, unacknowledged } = await shell.api.getProof()
    const shown = open ? recent.filter(({ acknowledged }) => acknowledged == null) : recent
    const sum = `${counted(found, 'fault')}, ${numberText(unacknowledged)} not acknowledged.`
    showItems(shell, shown, { ...faultList, none: sum })
    if (!shell.json && shown.length > 0) shell.terminal.stdout.write(`${sum}\n`)
  },
})

const acknowledgeCommand = remoteCommand({
  name: 'acknowledge',
  description: 'Acknowledge faults, so that the alert ends. They stay in the list.',
  examples: ["faults acknowledge 3.1 --reason 'clock of host b, replaced'", "faults acknowledge --all --reason 'drill'"],
  options: [
    new Option('--all', 'all faults that were found until now'),
    new Option('--reason <text>', 'what is known about them, at most 500 characters').makeOptionMandatory(),
  ],
  args: { '[ids...]': 'IDs of the faults' },
  run: async ({ api, json, terminal }, ids: string[], flags: RemoteFlags & { all?: boolean; reason: string }) => {
    const { all = false, reason } = flags
    if (all === ids.length > 0) throw new DuelogError('bad-usage', 'Give either IDs of faults or --all.')
    const newest = all ? (await api.getProof()).recent[0] : undefined
    const choice = newest === undefined ? { ids } : { upTo: newest.at }
    const done =
      all && newest === undefined
        ? { acknowledged: 0, unacknowledged: 0, unknown: [] }
        : await api.acknowledgeFaults({ body: { ...choice, reason } })
    const { acknowledged, unacknowledged, unknown = [] } = done
    if (json) writeAsJson(terminal.stdout, done)
    else terminal.stdout.write(`${counted(acknowledged, 'fault')} acknowledged, ${numberText(unacknowledged)} not.\n`)
    if (unknown.length > 0)
      throw new DuelogError('command-refused', `No fault is known as ${unknown.join(', ')}. \`duelog faults list\` shows IDs.`)
  },
})

export const faultsCommand = groupOf('faults', 'List and acknowledge the faults that the auditors found in the log.', [
  listCommand,
  acknowledgeCommand,
])
