/** `duelog operations …`: changes of many jobs or dead runs that go on on the server. */
import { Command } from 'commander'
import { stateWords } from '../../../streams/text/index.ts'
import type { Operation } from '../../answers/index.ts'
import { type CommandFrame, forEach, path, type RemoteFlags, remoteCommand, remotely } from '../remote/index.ts'
import { integer, jsonText, oneLine, painterOf, pairsText, tableText, writeAsJson } from '../terminal/index.ts'
import { follow, operationText, tellReasons } from './operate.ts'

export function operationsCommand(frame: CommandFrame): Command {
  const group = new Command('operations').description('List, show, follow and cancel changes of many jobs or dead runs.')
  for (const command of [listCommand(frame), getCommand(frame), cancelCommand(frame)]) group.addCommand(command)
  return group
}

function listCommand(frame: CommandFrame): Command {
  return remoteCommand('list', 'List operations, newest first.', ['operations list --active'])
    .option('--active', 'only operations that have not ended')
    .addOption(integer('--limit <n>', 'maximum number of operations to show', 100, 1, 1_000))
    .action((flags: RemoteFlags & { active?: boolean; limit: number }) =>
      remotely(frame, flags, async ({ api, json, terminal, time }) => {
        const { active, limit } = flags
        const { operations } = await api.get<{ operations: Operation[] }>('/v1/operations', { active, limit })
        if (json) return void terminal.stdout.write(operations.map((operation) => jsonText(operation, terminal.stdout)).join(''))
        const rows = operations.map((operation) => [
          ...[operation.id, operation.action, choiceText(operation), operation.status, operationText(operation)],
          ...[operation.actor ?? '', time(operation.createdAt)],
        ])
        const head = ['ID', 'ACTION', 'CHOICE', 'STATUS', 'PROGRESS', 'ACTOR', 'CREATED']
        terminal.stdout.write(
          rows.length === 0 ? 'There are no operations.\n' : tableText(head, rows, painterOf(terminal.stdout, terminal.env)),
        )
      }),
    )
}

function getCommand(frame: CommandFrame): Command {
  return remoteCommand('get', 'Show an operation with its progress.', ['operations get 4f2c --follow'])
    .argument('<id>', 'ID of the operation')
    .option('--follow', 'show its progress until it ends; Ctrl-C ends only this command')
    .action((id: string, flags: RemoteFlags & { follow?: boolean }) =>
      remotely(frame, flags, async (shell) => {
        const { api, json, terminal, time } = shell
        const operation = await api.get<Operation>(path`/v1/operations/${id}`)
        if (flags.follow) return await follow(shell, operation, false)
        if (json) return writeAsJson(terminal.stdout, operation)
        const { action, status, actor, createdAt, startedAt, effectiveAt, endedAt, driver } = operation
        terminal.stdout.write(
          pairsText(
            [
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
            ],
            painterOf(terminal.stdout, terminal.env),
          ),
        )
        tellReasons(terminal, operation)
      }),
    )
}

function cancelCommand(frame: CommandFrame): Command {
  return remoteCommand('cancel', 'End operations early. What they have changed stays changed.', ['operations cancel 4f2c'])
    .argument('<ids...>', 'IDs of the operations')
    .action((ids: string[], flags: RemoteFlags) =>
      remotely(frame, flags, (shell) =>
        forEach(shell, 'id', ids, async (id) => {
          const operation = await shell.api.post<Operation>(path`/v1/operations/${id}/cancel`)
          return { facts: operation, text: `${stateWords(operation.status)}: ${operationText(operation)}.` }
        }),
      ),
    )
}

function choiceText({ filter, listed }: Operation): string {
  if (filter === null) return `of ${listed ?? 0} listed`
  const parts = Object.entries(filter).map(([name, value]) => `${name}=${oneLine(String(value))}`)
  return parts.length === 0 ? 'of all' : `where ${parts.join(' ')}`
}
