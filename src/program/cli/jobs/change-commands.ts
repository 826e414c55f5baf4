/** `duelog jobs rm`, `pause`, `resume`, `cancel`, `trigger`, `skip` and `backfill`. */
import { Option } from 'commander'
import { counted, JsonText, readJson, stateWords } from '../../../../streams/text/index.ts'
import type { CommandResult, OperationRequest } from '../../../ground/answers/index.ts'
import { DuelogError, messageOf } from '../../../ground/errors/index.ts'
import { type CommandPlan, type Done, forEach, idempotencyOption, remoteCommand, type Shell } from '../remote/index.ts'
import { timeForms, timeOption } from '../terminal/index.ts'
import { choosesMany, type FilterFlags, manyOptions, operateByFlags } from './operate.ts'

interface ChangeFlags extends FilterFlags {
  idempotencyKey?: string
}

/** Text for a change that is durable but not applied yet. */
export const laterText = ({ detail }: { detail?: string }): string =>
  detail === undefined
    ? 'is accepted but not applied yet. The change is durable, and the owner will apply it.'
    : `is accepted but not applied yet. ${detail}`

/** A command on jobs by their IDs or by filters. `body`: of the operation, and of the change of each job. */
const manyCommand = <Flags extends ChangeFlags>({
  action,
  options,
  change,
  bodyOf = () => undefined,
  ...plan
}: Pick<CommandPlan, 'name' | 'description' | 'examples'> & {
  action: OperationRequest['action']
  options: readonly Option[]
  change(shell: Shell, id: string, flags: Flags): Promise<Done>
  bodyOf?(flags: Flags, isMany: boolean): { payload: unknown } | undefined
}): CommandPlan =>
  remoteCommand({
    ...plan,
    options: [...manyOptions(), ...options],
    args: { '[ids...]': 'IDs of the jobs' },
    run: (shell, ids: string[], flags: Flags) => {
      const isMany = choosesMany(ids, flags)
      const body = bodyOf(flags, isMany)
      if (isMany) return operateByFlags(shell, action, flags, body)
      return forEach(shell, 'id', ids, (id) => change(shell, id, flags))
    },
  })

export const removeCommand = manyCommand({
  name: 'rm',
  action: 'DELETE',
  description: 'Delete jobs. They do not fire again, and their active runs are cancelled.',
  examples: [
    'jobs rm report-7 report-8',
    'jobs rm report-7 --if-match \'"3.118"\'',
    'jobs rm --id-prefix trial- --status COMPLETED',
  ],
  options: [new Option('--if-match <etag>', 'delete only if the job still has this version')],
  async change({ api }, id, { ifMatch }: ChangeFlags & { ifMatch?: string }) {
    // The answer is empty once the deletion is applied.
    const late = await api.deleteJob({ id, wait: 'applied', ifMatch })
    return late === undefined
      ? { facts: {}, text: 'is deleted.' }
      : { facts: { applied: false, detail: late.detail }, text: laterText(late) }
  },
  bodyOf({ ifMatch }, isMany) {
    if (isMany && ifMatch !== undefined) throw new DuelogError('bad-usage', '--if-match needs the ID of a job.')
    return undefined
  },
})

/** Commands without parameters. What they did, and the status after it, unless the word does not say it. */
const words = [
  {
    ...({ name: 'pause', action: 'PAUSE', done: 'is paused', status: 'PAUSED' } as const),
    description: 'Stop jobs from firing until they are resumed.',
  },
  {
    ...({ name: 'resume', action: 'RESUME', done: 'is resumed', status: 'ACTIVE' } as const),
    description: 'Resume paused jobs. Occurrences that were missed during the pause follow the catchUp of each job.',
  },
  {
    ...({ name: 'cancel', action: 'CANCEL', done: 'is cancelled', status: undefined } as const),
    description: 'Cancel the runs of jobs and stop the jobs. A new definition revives them.',
  },
]

export const wordCommands = words.map(({ name, action, description, done, status }) =>
  manyCommand({
    ...{ name, action, description },
    examples: [`jobs ${name} report-7`, `jobs ${name} report-7 report-8 --json`, `jobs ${name} --tag eu`],
    options: [idempotencyOption()],
    async change({ api }, id, { idempotencyKey }) {
      const facts = await api[`${name}Job`]({ id, idempotencyKey })
      return doneOf(facts, facts.status === status ? `${done}.` : `${done}; it ${stateWords(facts.status ?? '')}.`)
    },
  }),
)

const payloadOf = ({ payload }: ChangeFlags & { payload?: string }): { payload: unknown } | undefined =>
  payload === undefined ? undefined : { payload: jsonOf(payload) }

export const triggerCommand = manyCommand({
  name: 'trigger',
  action: 'TRIGGER',
  description: 'Run jobs once now, in addition to their schedules.',
  examples: [
    'jobs trigger report-7',
    `jobs trigger report-7 --payload '{"to": "b@example.org"}'`,
    'jobs trigger --tag nightly',
    `jobs trigger --tag nightly --payload '{"mode": "trial"}'`,
  ],
  options: [new Option('--payload <json>', 'payload of the runs; replaces the payload of the definition'), idempotencyOption()],
  change: async ({ api }, id, flags) =>
    runDoneOf(await api.triggerJob({ id, body: payloadOf(flags), idempotencyKey: flags.idempotencyKey })),
  bodyOf: payloadOf,
})

export const skipCommand = remoteCommand({
  name: 'skip',
  description: 'Skip the next occurrence of jobs. Their schedules go on with the one after it.',
  examples: ['jobs skip report-7 report-8', 'jobs skip report-7 --at 2030-01-01T00:00:00Z'],
  options: [
    timeOption(
      '--at <time>',
      'nominal time of the occurrence that you mean; if it is not the next one, nothing is skipped',
      true,
    ),
    idempotencyOption(),
  ],
  args: { '<ids...>': 'IDs of the jobs' },
  run: (shell, ids: string[], { at, idempotencyKey }: ChangeFlags & { at?: string }) =>
    forEach(shell, 'id', ids, async (id) => {
      const body = at === undefined ? undefined : { at }
      return doneOf(await shell.api.skipNext({ id, body, idempotencyKey }), 'skips its next occurrence.')
    }),
})

export const backfillCommand = remoteCommand({
  name: 'backfill',
  description: 'Run each occurrence of a past time range.',
  examples: [
    'jobs backfill report-7 --from 2030-01-01T00:00:00Z --to 2030-01-08T00:00:00Z --dry-run',
    'jobs backfill report-7 --cancel',
  ],
  options: [
    timeOption('--from <time>', `first nominal time, inclusive: ${timeForms}`),
    timeOption('--to <time>', 'end of the range, exclusive; not after now'),
    new Option('--dry-run', 'count the runs, and write nothing'),
    new Option('--cancel', 'end the backfill in progress: it makes no further runs, and those that it has made go on'),
    idempotencyOption(),
  ],
  args: { '<id>': 'ID of the job' },
  run: (shell, id: string, flags: BackfillFlags) => forEach(shell, 'id', [id], () => backfill(shell, id, flags)),
})

interface BackfillFlags extends ChangeFlags {
  from?: string
  to?: string
  dryRun?: boolean
  cancel?: boolean
}

async function backfill({ api }: Shell, id: string, flags: BackfillFlags): Promise<Done> {
  const { from, to, dryRun, cancel, idempotencyKey } = flags
  if (cancel) {
    if (from !== undefined || to !== undefined || dryRun) throw new DuelogError('bad-usage', '--cancel takes no range.')
    return doneOf(await api.cancelBackfill({ id, idempotencyKey }), 'makes no further runs of the backfill.')
  }
  if (from === undefined || to === undefined)
    throw new DuelogError('bad-usage', 'A backfill needs its range: --from and --to. --cancel ends the one in progress.')
  const body = { from, to }
  if (dryRun) {
    const facts = await api.countBackfill({ id, body })
    const { occurrences, isMore, first, last } = facts
    const range = first === null ? '' : `, from ${first} to ${isMore ? 'later than ' : ''}${last}`
    return { facts, text: `would run ${isMore ? 'more than ' : ''}${counted(occurrences, 'time')}${range}.` }
  }
  const facts = await api.backfillJob({ id, body, idempotencyKey })
  return doneOf(facts, 'runs the occurrences of the range, beside its schedule.')
}

/** `text`: what is shown once the change is applied. */
export const doneOf = (facts: CommandResult, text: string): Done => ({ facts, text: facts.applied ? text : laterText(facts) })

/** Outcome of a command that creates a run. Throws when the owner created none. */
export function runDoneOf(facts: CommandResult): Done {
  if (facts.applied && facts.runId == null)
    throw new DuelogError('bad-request', `No run was created: ${facts.reason ?? 'the owner refused it'}.`)
  return doneOf(facts, `runs as ${facts.runId}.`)
}

/** Throws `bad-usage`. */
export function jsonOf(text: string, flag = '--payload'): JsonText {
  try {
    const { problems } = readJson(text)
    if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join(' '))
    return new JsonText(text)
  } catch (cause) {
    throw new DuelogError('bad-usage', `${flag} is not JSON: ${messageOf(cause)}`, { cause })
  }
}
