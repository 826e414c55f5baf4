/** `duelog pools …` and `duelog workers …`: what they do, and their pauses. */
import { stateWords } from '../../../../streams/text/index.ts'
import type { Pool, Worker } from '../../../ground/answers/index.ts'
import { DuelogError } from '../../../ground/errors/index.ts'
import {
  type CommandPlan,
  type Done,
  forEach,
  groupOf,
  type List,
  type RemoteFlags,
  remoteCommand,
  type Shell,
  showItems,
} from '../remote/index.ts'
import { numberText } from '../terminal/index.ts'

const verbs = ['pause', 'drain', 'resume'] as const
type Verb = (typeof verbs)[number]

/** A list, and what is done to pools or workers by their names. */
interface Group<Item> {
  list: { description: string; read(shell: Shell): Promise<Item[]>; items: List<Item> }
  descriptions: Record<Verb, string>
  example: string
  names: string
  change(shell: Shell, verb: Verb, name: string): Promise<Done>
}

function groupCommand<Item>(field: 'pool' | 'worker', group: Group<Item>): CommandPlan {
  const { list, descriptions, example, names, change } = group
  return groupOf(`${field}s`, `List, pause, drain and resume ${field === 'pool' ? 'pools of workers' : 'workers'}.`, [
    remoteCommand({
      name: 'list',
      description: list.description,
      examples: [`${field}s list`],
      run: async (shell, _: RemoteFlags) => showItems(shell, await list.read(shell), list.items),
    }),
    ...verbs.map((verb) =>
      remoteCommand({
        name: verb,
        description: descriptions[verb],
        examples: [`${field}s ${verb} ${example}`],
        args: { [`<${field}s...>`]: names },
        run: (shell, words: string[], _: RemoteFlags) => forEach(shell, field, words, (word) => change(shell, verb, word)),
      }),
    ),
  ])
}

const poolList: List<Pool> = {
  none: 'There are none.',
  columns: [
    ['POOL', ({ pool }) => pool],
    ['STATE', stateText],
    ['BY', ({ pausedBy }) => pausedBy ?? ''],
    ['WORKERS', ({ workers }) => numberText(workers)],
    ['WANTED', ({ wanted }) => (wanted == null ? '' : numberText(wanted.workers))],
    ['SLOTS', ({ slots }) => (slots === null ? '' : numberText(slots))],
    ['DISPATCHED', ({ dispatched }) => numberText(dispatched)],
    ['RUNNING', ({ running }) => numberText(running)],
    ['WAITING OR RETRY', ({ waiting }) => numberText(waiting)],
    ['NO HANDLER', ({ withoutHandler }) => numberText(withoutHandler)],
    ['PAUSED RUNS', ({ inPausedPool }) => numberText(inPausedPool)],
  ],
}

const workerList: List<Worker> = {
  none: 'There are none.',
  columns: [
    ['WORKER', ({ instance }) => instance],
    ['STATE', stateText],
    ['BY', ({ pausedBy }) => pausedBy ?? ''],
    ['POOLS', ({ pools }) => pools.map(({ pool }) => pool).join(' ')],
    ['SLOTS', ({ pools }) => slotsText(pools.map(({ slots }) => slots))],
    ['RUNNING', ({ running }) => numberText(running)],
    ['VERSION', ({ version }) => version ?? ''],
    ['LAST HEARD', ({ lastHeardAt }, { time }) => time(lastHeardAt)],
  ],
}

export const poolsCommand = groupCommand<Pool>('pool', {
  list: {
    description: 'List the pools with their workers and runs.',
    read: async ({ api }) => (await api.listPools()).pools,
    items: poolList,
  },
  descriptions: {
    pause: 'Pause pools: their runs wait, and running handlers go on.',
    drain: 'Drain pools: their workers do what was dispatched, and further runs wait.',
    resume: 'Resume pools: the runs that wait are dispatched.',
  },
  example: 'reports',
  names: 'names of the pools',
  async change({ api }, verb, pool) {
    const changed = await api[`${verb}Pool`]({ pool })
    return { facts: changed, text: `${stateWords(changed.state)}; ${waitingText(changed)}` }
  },
})

export const workersCommand = groupCommand<Worker>('worker', {
  list: {
    description: 'List the workers with their pools and runs.',
    read: async ({ api }) => (await api.listWorkers()).workers,
    items: workerList,
  },
  descriptions: {
    pause: 'Pause workers: they take no runs, and running handlers go on.',
    drain: 'Drain workers: they take no runs, and are drained when their handlers have ended.',
    resume: 'Resume workers: they take runs again.',
  },
  example: 'mailer',
  names: 'whole names, as `workers list` shows them, or the part before the @ where one worker has it',
  async change(shell, verb, word) {
    const changed = await shell.api[`${verb}Worker`]({ worker: await workerOf(shell, word) })
    const running = changed.running === 1 ? '1 handler runs' : `${numberText(changed.running)} handlers run`
    return { facts: changed, text: `${stateWords(changed.state)}; ${running}.` }
  },
})

const slotsText = (slots: readonly (number | null)[]): string =>
  slots.includes(null) ? '' : numberText(slots.reduce((sum: number, of) => sum + (of ?? 0), 0))

/** Rejects with `bad-usage` if several workers have the name. An unknown name goes to the server, which refuses it. */
async function workerOf({ api }: Shell, word: string): Promise<string> {
  const { workers } = await api.listWorkers()
  if (workers.some(({ instance }) => instance === word)) return word
  const named = workers.filter(({ name }) => name === word)
  if (named.length > 1)
    throw new DuelogError(
      'bad-usage',
      `${named.length} workers have the name ${word}; give the whole name of one: ${named[0]?.instance}.`,
    )
  return named[0]?.instance ?? word
}

function stateText({ state, stateSince }: Pool | Worker, { time }: Shell): string {
  return stateSince === null ? state : `${state} since ${time(stateSince)}`
}

function waitingText({ inPausedPool, running }: Pool): string {
  return `${numberText(inPausedPool)} ${inPausedPool === 1 ? 'run waits' : 'runs wait'} for it, and ${numberText(running)} ${running === 1 ? 'runs' : 'run'}.`
}
