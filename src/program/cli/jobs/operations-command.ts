/** `duelog operations …`: changes of many jobs or dead runs that go on on the server. */
import { Option } from 'commander'
import { stateWords } from '../../../../streams/text/index.ts'
import type { Operation } from '../../../ground/answers/index.ts'
import { forEach, groupOf, type List, type RemoteFlags, remoteCommand, showItems } from '../remote/index.ts'
import { integer, oneLine, pairsText, writeAsJson } from '../terminal/index.ts'
import { follow, operationText, tellReasons } from './operate.ts'

const operationList: List<Operation> = {
  none: 'There are no operations.',
  columns: [
    ['ID', ({ id }) => id],
    ['ACTION', ({ action }) => action],
    ['CHOICE', choiceText],
    ['STATUS', ({ status }) => status],
    ['PROGRESS', operationText],
    ['ACTOR', ({ actor }) => actor ?? ''],
    ['CREATED', ({ createdAt }, { time }) => time(createdAt)],
  ],
}

const listCommand = remoteCommand({
  name: 'list',
  description: 'List operations, newest first.',
  examples: ['operations list --active'],
  options: [
    new Option('--active', 'only operations that have not ended'),
    integer('--limit <n>', 'maximum number of operations to show', 100, 1, 1_000),
  ],
  run: async (shell, { active, limit }: RemoteFlags & { active?: boolean; limit: number }) =>
    showItems(shell, (await shell.api.listOperations({ active, limit })).operations, operationList),
})

const getCommand = remoteCommand({
  name: 'get',
  description: 'Show an operation with its progress.',
  examples: ['operations get 4f2c --follow'],
  options: [new Option('--follow', 'show its progress until it ends; Ctrl-C ends only this command')],
  args: { '<id>': 'ID of the operation' },
  run: async (shell, id: string, flags: RemoteFlags & { follow?: boolean }) => {
    const { json, paint, terminal, time } = shell
    const operation = await shell.api.getOperation({ id })
    if (flags.follow) return await follow(shell, operation, false)
    if (json) return writeAsJson(terminal.stdout, operation)
    const { action, status, actor, createdAt, startedAt, effectiveAt, endedAt, driver } = operation
    const pairs = [
      ['operation', id],
      ['action', `${action} ${choiceText(operation)}`],
      ['status', status],
      ['progress', operationText(operation)],
      ['asked for by', actor ?? ''],
      ['created', time(createdAt)],
      ['begun', time(startedAt)],
      ['in effect', time(effectiveAt)],
      ['ended', time(endedAt)],
      ['carried out by', driver ?? ''],
    ] as const
    terminal.stdout.write(pairsText(pairs, paint))
    tellReasons(terminal, operation)
  },
})

const cancelCommand = remoteCommand({
  name: 'cancel',
  description: 'End operations early. What they have changed stays changed.',
  examples: ['operations cancel 4f2c'],
  args: { '<ids...>': 'IDs of the operations' },
  run: (shell, ids: string[], _: RemoteFlags) =>
    forEach(shell, 'id', ids, async (id) => {
      const operation = await shell.api.cancelOperation({ id })
      return { facts: operation, text: `${stateWords(operation.status)}: ${operationText(operation)}.` }
    }),
})

function choiceText({ filter, listed }: Operation): string {
  if (filter === null) return `of ${listed ?? 0} listed`
  const parts = Object.entries(filter).map(([name, value]) => `${name}=${oneLine(String(value))}`)
  return parts.length === 0 ? 'of all' : `where ${parts.join(' ')}`
}

export const operationsCommand = groupOf('operations', 'List, show, follow and cancel changes of many jobs or dead runs.', [
  listCommand,
  getCommand,
  cancelCommand,
])
