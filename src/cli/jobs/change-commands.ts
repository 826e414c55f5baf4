/** `duelog jobs rm`, `pause`, `resume`, `cancel`, `trigger`, `skip` and `backfill`. */
import type { Command } from 'commander'
import { counted, JsonText, readJson, stateWords } from '../../../streams/text/index.ts'
import type { BackfillCount, CommandResult } from '../../answers/index.ts'
import { DuelogError, messageOf } from '../../errors/index.ts'
import {
  type CommandFrame,
  type Done,
  forEach,
  idempotencyOf,
  idempotencyOption,
  path,
  remoteCommand,
  remotely,
  type Shell,
} from '../remote/index.ts'
import { timeForms, timeOption } from '../terminal/index.ts'
import { choosesMany, type FilterFlags, filterOptions, operateByFlags } from './operate.ts'

interface ChangeFlags extends FilterFlags {
  idempotencyKey?: string
}

/** Text for a change that is durable but not applied yet. */
export const laterText = ({ detail }: { detail?: string }): string =>
  detail === undefined
    ? 'is accepted but not applied yet. The change is durable, and the owner will apply it.'
    : `is accepted but not applied yet. ${detail}`

export function removeCommand(frame: CommandFrame): Command {
  const command = remoteCommand('rm', 'Delete jobs. They do not fire again, and their active runs are cancelled.', [
    'jobs rm report-7 report-8',
    'jobs rm report-7 --if-match \'"3.118"\'',
    'jobs rm --id-prefix trial- --status COMPLETED',
  ])
  for (const option of filterOptions()) command.addOption(option)
  return command
    .argument('[ids...]', 'IDs of the jobs')
    .option('--if-match <etag>', 'delete only if the job still has this version')
    .action((ids: string[], flags: FilterFlags & { ifMatch?: string }) => {
      const isMany = choosesMany(ids, flags)
      if (isMany && flags.ifMatch !== undefined) throw new DuelogError('bad-usage', '--if-match needs the ID of a job.')
      const headers: Record<string, string> = flags.ifMatch === undefined ? {} : { 'if-match': flags.ifMatch }
      if (isMany) return remotely(frame, flags, (shell) => operateByFlags(shell, 'DELETE', flags))
      return remotely(frame, flags, (shell) =>
        forEach(shell, 'id', ids, async (id) => {
          // The answer is empty once the deletion is applied.
          const late = await shell.api.ask<{ applied: false; detail?: string } | undefined>('DELETE', path`/v1/jobs/${id}`, {
            query: { wait: 'applied' },
            headers,
          })
          return late === undefined
            ? { facts: {}, text: 'is deleted.' }
            : { facts: { applied: false, detail: late.detail }, text: laterText(late) }
        }),
      )
    })
}

/** Commands without parameters. */
const words = [
  { name: 'pause', description: 'Stop jobs from firing until they are resumed.', done: 'is paused', status: 'PAUSED' },
  {
    name: 'resume',
    description: 'Resume paused jobs. Occurrences that were missed during the pause follow the catchUp of each job.',
    done: 'is resumed',
    status: 'ACTIVE',
  },
  {
    name: 'cancel',
    description: 'Cancel the runs of jobs and stop the jobs. A new definition revives them.',
    done: 'is cancelled',
    // The word does not say it.
    status: undefined,
  },
] as const

export function wordCommands(frame: CommandFrame): Command[] {
  return words.map(({ name, description, done, status }) => {
    const examples = [`jobs ${name} report-7`, `jobs ${name} report-7 report-8 --json`, `jobs ${name} --tag eu`]
    const command = remoteCommand(name, description, examples)
    for (const option of filterOptions()) command.addOption(option)
    return command
      .argument('[ids...]', 'IDs of the jobs')
      .addOption(idempotencyOption())
      .action((ids: string[], flags: ChangeFlags) => {
        const isMany = choosesMany(ids, flags)
        if (isMany) return remotely(frame, flags, (shell) => operateByFlags(shell, name.toUpperCase(), flags))
        return remotely(frame, flags, (shell) =>
          forEach(shell, 'id', ids, async (id) => {
            const facts = await shell.api.post<CommandResult>(path`/v1/jobs/${id}/${name}`, undefined, idempotencyOf(flags))
            const said = facts.status === status ? `${done}.` : `${done}; it ${stateWords(facts.status ?? '')}.`
            return { facts, text: facts.applied ? said : laterText(facts) }
          }),
        )
      })
  })
}

export function triggerCommand(frame: CommandFrame): Command {
  const command = remoteCommand('trigger', 'Run jobs once now, in addition to their schedules.', [
    'jobs trigger report-7',
    `jobs trigger report-7 --payload '{"to": "b@example.org"}'`,
    'jobs trigger --tag nightly',
    `jobs trigger --tag nightly --payload '{"mode": "trial"}'`,
  ])
  for (const option of filterOptions()) command.addOption(option)
  return command
    .argument('[ids...]', 'IDs of the jobs')
    .option('--payload <json>', 'payload of the runs; replaces the payload of the definition')
    .addOption(idempotencyOption())
    .action((ids: string[], flags: ChangeFlags & { payload?: string }) => {
      const body = flags.payload === undefined ? undefined : { payload: jsonOf(flags.payload) }
      const isMany = choosesMany(ids, flags)
      if (isMany) return remotely(frame, flags, (shell) => operateByFlags(shell, 'TRIGGER', flags, body))
      return remotely(frame, flags, (shell) =>
        forEach(shell, 'id', ids, async (id) =>
          doneOf(await shell.api.post<CommandResult>(path`/v1/jobs/${id}/trigger`, body, idempotencyOf(flags))),
        ),
      )
    })
}

export function skipCommand(frame: CommandFrame): Command {
  return remoteCommand('skip', 'Skip the next occurrence of jobs. Their schedules go on with the one after it.', [
    'jobs skip report-7 report-8',
    'jobs skip report-7 --at 2030-01-01T00:00:00Z',
  ])
    .argument('<ids...>', 'IDs of the jobs')
    .addOption(
      timeOption(
        '--at <time>',
        'nominal time of the occurrence that you mean; if it is not the next one, nothing is skipped',
        true,
      ),
    )
    .addOption(idempotencyOption())
    .action((ids: string[], flags: ChangeFlags & { at?: string }) =>
      remotely(frame, flags, (shell) =>
        forEach(shell, 'id', ids, async (id) => {
          const body = flags.at === undefined ? undefined : { at: flags.at }
          const facts = await shell.api.post<CommandResult>(path`/v1/jobs/${id}/skip`, body, idempotencyOf(flags))
          return { facts, text: facts.applied ? 'skips its next occurrence.' : laterText(facts) }
        }),
      ),
    )
}

export function backfillCommand(frame: CommandFrame): Command {
  return remoteCommand('backfill', 'Run each occurrence of a past time range.', [
    'jobs backfill report-7 --from 2030-01-01T00:00:00Z --to 2030-01-08T00:00:00Z --dry-run',
    'jobs backfill report-7 --cancel',
  ])
    .argument('<id>', 'ID of the job')
    .addOption(timeOption('--from <time>', `first nominal time, inclusive: ${timeForms}`))
    .addOption(timeOption('--to <time>', 'end of the range, exclusive; not after now'))
    .option('--dry-run', 'count the runs, and write nothing')
    .option('--cancel', 'end the backfill in progress: it makes no further runs, and those that it has made go on')
    .addOption(idempotencyOption())
    .action((id: string, flags: BackfillFlags) =>
      remotely(frame, flags, (shell) => forEach(shell, 'id', [id], () => backfill(shell, id, flags))),
    )
}

interface BackfillFlags extends ChangeFlags {
  from?: string
  to?: string
  dryRun?: boolean
  cancel?: boolean
}

async function backfill({ api }: Shell, id: string, flags: BackfillFlags): Promise<Done> {
  const { from, to, dryRun, cancel } = flags
  if (cancel) {
    if (from !== undefined || to !== undefined || dryRun) throw new DuelogError('bad-usage', '--cancel takes no range.')
    const facts = await api.post<CommandResult>(path`/v1/jobs/${id}/backfill/cancel`, undefined, idempotencyOf(flags))
    return { facts, text: facts.applied ? 'makes no further runs of the backfill.' : laterText(facts) }
  }
  if (from === undefined || to === undefined)
    throw new DuelogError('bad-usage', 'A backfill needs its range: --from and --to. --cancel ends the one in progress.')
  const body = { from, to }
  if (dryRun) {
    const facts = await api.post<BackfillCount>(path`/v1/jobs/${id}/backfill/count`, body)
    const { occurrences, isMore, first, last } = facts
    const range = first === null ? '' : `, from ${first} to ${isMore ? 'later than ' : ''}${last}`
    return { facts, text: `would run ${isMore ? 'more than ' : ''}${counted(occurrences, 'time')}${range}.` }
  }
  const facts = await api.post<CommandResult>(path`/v1/jobs/${id}/backfill`, body, idempotencyOf(flags))
  return { facts, text: facts.applied ? 'runs the occurrences of the range, beside its schedule.' : laterText(facts) }
}

/** Outcome of a command that creates a run. Throws when the owner created none. */
export function doneOf(facts: CommandResult): Done {
  if (!facts.applied) return { facts, text: laterText(facts) }
  if (facts.runId == null) throw new DuelogError('bad-request', `No run was created: ${facts.reason ?? 'the owner refused it'}.`)
  return { facts, text: `runs as ${facts.runId}.` }
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
