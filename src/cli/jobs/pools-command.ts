/** `duelog pools …` and `duelog workers …`: what they do, and their pauses. */
import { Command } from 'commander'
import { stateWords } from '../../../streams/text/index.ts'
import type { Pool, Worker } from '../../answers/index.ts'
import { DuelogError } from '../../errors/index.ts'
import { type CommandFrame, forEach, path, type RemoteFlags, remoteCommand, remotely, type Shell } from '../remote/index.ts'
import { jsonText, numberText, painterOf, type TimeText, tableText } from '../terminal/index.ts'

export function poolsCommand(frame: CommandFrame): Command {
  const group = new Command('pools').description('List, pause, drain and resume pools of workers.')
  const list = remoteCommand('list', 'List the pools with their workers and runs.', ['pools list']).action((flags: RemoteFlags) =>
    remotely(frame, flags, async (shell) => {
      const { pools } = await shell.api.get<{ pools: Pool[] }>('/v1/pools')
      show(
        shell,
        pools,
        [
          'POOL',
          'STATE',
          'BY',
          'WORKERS',
          'WANTED',
          'SLOTS',
          'DISPATCHED',
          'RUNNING',
          'WAITING OR RETRY',
          'NO HANDLER',
          'PAUSED RUNS',
        ],
        (pool) => [
          ...[
            pool.pool,
            stateText(pool, shell.time),
            pool.pausedBy ?? '',
            numberText(pool.workers),
            pool.wanted == null ? '' : numberText(pool.wanted.workers),
            pool.slots === null ? '' : numberText(pool.slots),
          ],
          ...[pool.dispatched, pool.running, pool.waiting, pool.withoutHandler, pool.inPausedPool].map(numberText),
        ],
      )
    }),
  )
  group.addCommand(list)
  for (const { name, description, example } of [
    { name: 'pause', description: 'Pause pools: their runs wait, and running handlers go on.', example: 'pools pause reports' },
    {
      name: 'drain',
      description: 'Drain pools: their workers do what was dispatched, and further runs wait.',
      example: 'pools drain reports',
    },
    { name: 'resume', description: 'Resume pools: the runs that wait are dispatched.', example: 'pools resume reports' },
  ]) {
    const command = remoteCommand(name, description, [example])
      .argument('<pools...>', 'names of the pools')
      .action((pools: string[], flags: RemoteFlags) =>
        remotely(frame, flags, (shell) =>
          forEach(shell, 'pool', pools, async (pool) => {
            const changed = await shell.api.post<Pool>(`${path`/v1/pools/${pool}`}/${name}`)
            return { facts: changed, text: `${stateWords(changed.state)}; ${waitingText(changed)}` }
          }),
        ),
      )
    group.addCommand(command)
  }
  return group
}

export function workersCommand(frame: CommandFrame): Command {
  const group = new Command('workers').description('List, pause, drain and resume workers.')
  const list = remoteCommand('list', 'List the workers with their pools and runs.', ['workers list']).action(
    (flags: RemoteFlags) =>
      remotely(frame, flags, async (shell) => {
        const { workers } = await shell.api.get<{ workers: Worker[] }>('/v1/workers')
        show(shell, workers, ['WORKER', 'STATE', 'BY', 'POOLS', 'SLOTS', 'RUNNING', 'VERSION', 'LAST HEARD'], (worker) => [
          ...[
            worker.instance,
            stateText(worker, shell.time),
            worker.pausedBy ?? '',
            worker.pools.map(({ pool }) => pool).join(' '),
          ],
          worker.pools.some(({ slots }) => slots === null)
            ? ''
            : numberText(worker.pools.reduce((sum, { slots }) => sum + (slots ?? 0), 0)),
          ...[numberText(worker.running), worker.version ?? '', shell.time(worker.lastHeardAt)],
        ])
      }),
  )
  group.addCommand(list)
  for (const { name, description } of [
    { name: 'pause', description: 'Pause workers: they take no runs, and running handlers go on.' },
    { name: 'drain', description: 'Drain workers: they take no runs, and are drained when their handlers have ended.' },
    { name: 'resume', description: 'Resume workers: they take runs again.' },
  ]) {
    const command = remoteCommand(name, description, [`workers ${name} mailer`])
      .argument('<workers...>', 'whole names, as `workers list` shows them, or the part before the @ where one worker has it')
      .action((words: string[], flags: RemoteFlags) =>
        remotely(frame, flags, (shell) =>
          forEach(shell, 'worker', words, async (word) => {
            const worker = await workerOf(shell, word)
            const changed = await shell.api.post<Worker>(`${path`/v1/workers/${worker}`}/${name}`)
            const running = changed.running === 1 ? '1 handler runs' : `${numberText(changed.running)} handlers run`
            return { facts: changed, text: `${stateWords(changed.state)}; ${running}.` }
          }),
        ),
      )
    group.addCommand(command)
  }
  return group
}

/** Rejects with `bad-usage` if several workers have the name. A word that none has goes to the server, which says so. */
async function workerOf({ api }: Shell, word: string): Promise<string> {
  const { workers } = await api.get<{ workers: Worker[] }>('/v1/workers')
  if (workers.some(({ instance }) => instance === word)) return word
  const named = workers.filter(({ name }) => name === word)
  if (named.length > 1)
    throw new DuelogError(
      'bad-usage',
      `${named.length} workers have the name ${word}; give the whole name of one: ${named[0]?.instance}.`,
    )
  return named[0]?.instance ?? word
}

function show<Item>({ json, terminal }: Shell, items: Item[], head: string[], row: (item: Item) => string[]): void {
  if (json) return void terminal.stdout.write(items.map((item) => jsonText(item, terminal.stdout)).join(''))
  const text = tableText(head, items.map(row), painterOf(terminal.stdout, terminal.env))
  terminal.stdout.write(items.length === 0 ? 'There are none.\n' : text)
}

const stateText = ({ state, stateSince }: Pool | Worker, time: TimeText): string =>
  stateSince === null ? state : `${state} since ${time(stateSince)}`

function waitingText({ inPausedPool, running }: Pool): string {
  return `${numberText(inPausedPool)} ${inPausedPool === 1 ? 'run waits' : 'runs wait'} for it, and ${numberText(running)} ${running === 1 ? 'runs' : 'run'}.`
}
